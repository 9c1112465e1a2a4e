import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { fail, type Host } from '#kernel';
import { CORE_PLUGIN_FLOORS } from '../../plugins/core-plugins.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createSender, type HttpReply } from '../support/send.ts';
import {
  adminToken,
  createMigratedDatabase,
  FIRST_ADMIN_CREDENTIALS,
  QUICK_HASH_SETTINGS,
  TEST_SECRET,
} from '../support/service.ts';
import { withBootedTestPlugins } from '../support/test-plugins.ts';

type Row = Record<string, unknown>;
type Send = (method: string, path: string, body?: unknown) => Promise<HttpReply>;
interface RecordedEvent {
  readonly kind: 'filter' | 'action';
  readonly event: string;
  readonly payload?: unknown;
  readonly meta: Row;
}

const VERBS = ['create', 'update', 'delete', 'read', 'query'];
const patterns = VERBS.flatMap((verb) =>
  ['items', '*.items', 'up.items', 'down.items'].map((scope) => `${scope}.${verb}`),
);
const listener = { name: 'listener', manifest: { capabilities: { events: { filter: patterns, action: patterns } } } };

describe('item events', () => {
  let database: FreshDatabase;
  beforeEach(async () => {
    database = await createMigratedDatabase('conf_events');
    await database.query(`
      create table up (id serial primary key, name text);
      create table down (id serial primary key, word text, up int references up deferrable initially deferred);
      insert into up (name) values ('first');
    `);
  });
  afterEach(() => database.drop());

  /** Starts all core plugins and a plugin with the listeners of `register`, creates a relation, and then runs `work`. */
  async function listening(
    register: (host: Host, eventLog: RecordedEvent[]) => void,
    work: (send: Send, eventLog: RecordedEvent[]) => Promise<void>,
  ) {
    const data = await mkdtemp(join(tmpdir(), 'tenon-data-'));
    const eventLog: RecordedEvent[] = [];
    const environment = {
      DB_CONNECTION_STRING: database.url,
      DATA_PATH: data,
      EXTENSIONS_PATH: join(data, 'extensions'),
      LOG_STYLE: 'raw',
      SECRET: TEST_SECRET,
      ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
      ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
      ...QUICK_HASH_SETTINGS,
    };
    const product = CORE_PLUGIN_FLOORS.flatMap(({ plugins }) => plugins);
    try {
      await withBootedTestPlugins(
        // biome-ignore lint/suspicious/noExplicitAny: hosts are made from the manifest
        [{ ...listener, register: (host: Host<any>) => register(host, eventLog) }],
        async ({ kernel }) => {
          await kernel.migrate();
          await kernel.start();
          const { port } = await kernel.listen();
          const request = createSender(`http://127.0.0.1:${port}`);
          const token = await adminToken(database);
          const send: Send = (method, path, body) => request(method, path, { token, body });
          await send('POST', '/fields/up', { field: 'downs', type: 'alias', meta: { special: ['o2m'] } });
          await send('PATCH', '/relations/down/up', { meta: { one_field: 'downs' } });
          eventLog.length = 0;
          await work(send, eventLog);
        },
        { environment, product },
      );
    } finally {
      await rm(data, { recursive: true, force: true });
    }
  }

  const everything = (host: Host, eventLog: RecordedEvent[]) => {
    for (const verb of VERBS) {
      for (const name of [`items.${verb}`, `*.items.${verb}`]) {
        host.events.onFilter(name, (payload, { event, caller, ...meta }) => {
          eventLog.push({ kind: 'filter', event, payload: structuredClone(payload), meta });
        });
        host.events.onAction(name, ({ event, caller, ...meta }) => {
          eventLog.push({ kind: 'action', event, meta });
        });
      }
    }
  };
  const names = (eventLog: readonly RecordedEvent[]) =>
    eventLog.filter(({ event }) => !/read|query/.test(event)).map(({ kind, event }) => `${kind} ${event}`);

  it('filters and actions fire in order, generic before scoped, with the documented payload and meta', () =>
    listening(everything, async (send, eventLog) => {
      await send('POST', '/items/up?fields=id', { name: 'a' });
      expect(names(eventLog)).to.deep.equal([
        'filter items.create',
        'filter up.items.create',
        'action items.create',
        'action up.items.create',
      ]);
      expect(eventLog[0]).to.deep.include({ payload: { name: 'a' }, meta: { collection: 'up' } });
      expect(eventLog.find(({ event, kind }) => kind === 'action' && event === 'items.create')?.meta).to.deep.equal({
        collection: 'up',
        payload: { name: 'a' },
        key: 2,
      });
      eventLog.length = 0;

      await send('PATCH', '/items/up', { keys: [2, 1], data: { name: 'b' } });
      expect(names(eventLog)).to.deep.equal([
        'filter items.update',
        'filter up.items.update',
        'action items.update',
        'action up.items.update',
      ]);
      expect(eventLog[0]).to.deep.include({ payload: { name: 'b' }, meta: { collection: 'up', keys: [2, 1] } });
      expect(eventLog.find(({ kind }) => kind === 'action')?.meta).to.deep.equal({
        collection: 'up',
        keys: [2, 1],
        payload: { name: 'b' },
      });
      eventLog.length = 0;

      await send('DELETE', '/items/up/2');
      expect(names(eventLog)).to.deep.equal([
        'filter items.delete',
        'filter up.items.delete',
        'action items.delete',
        'action up.items.delete',
      ]);
      expect(eventLog[0]).to.deep.include({ payload: [2] });
      expect(eventLog.at(-1)?.meta).to.deep.equal({ collection: 'up', keys: [2], payload: [2] });
      eventLog.length = 0;

      await send('GET', '/items/up?fields=name&limit=1');
      expect(eventLog.map(({ kind, event }) => `${kind} ${event}`)).to.deep.equal([
        'filter items.query',
        'filter up.items.query',
        'filter items.read',
        'filter up.items.read',
        'action items.read',
        'action up.items.read',
      ]);
      expect(eventLog[0]?.payload).to.deep.equal({ fields: ['name'], limit: 1 });
      expect(eventLog[2]?.payload).to.deep.equal([{ name: 'b' }]);
    }));

  it('filters and actions fire for nested rows as well, actions only once all of it is committed', () =>
    listening(
      (host, eventLog) => {
        everything(host, eventLog);
        host.events.onAction('items.create', async ({ collection }) => {
          const rows = await database.query(`select 1 from ${collection}`);
          eventLog.push({ kind: 'action', event: 'seen by others', meta: { rows: rows.length } });
        });
      },
      async (send, eventLog) => {
        await send('POST', '/items/up', { name: 'a', downs: [{ word: 'x' }, { word: 'y' }] });
        await eventually(() => eventLog.filter(({ event }) => event === 'seen by others').length === 3);
        const fired = names(eventLog).filter((name) => /(filter|action) items/.test(name));
        expect(fired).to.deep.equal([...Array(3).fill('filter items.create'), ...Array(3).fill('action items.create')]);
        const nested = eventLog.filter(({ kind, event }) => kind === 'filter' && event === 'down.items.create');
        expect(nested.map(({ payload }) => payload)).to.deep.equal([
          { word: 'x', up: 2 },
          { word: 'y', up: 2 },
        ]);
        expect(eventLog.filter(({ event }) => event === 'seen by others').map(({ meta }) => meta.rows)).to.have.members(
          [2, 2, 2],
        );
      },
    ));

  it('actions never fire for what was rolled back, also when the commit itself fails', () =>
    listening(everything, async (send, eventLog) => {
      for (const body of [
        { name: 'a', downs: [{ word: 'x' }, { id: 'wrong' }] },
        { name: 'a', downs: 5 },
      ]) {
        expect((await send('POST', '/items/up', body)).status).to.be.within(400, 403);
      }
      expect((await send('POST', '/items/down', { up: 99 })).body.errors[0].extensions.code).to.equal(
        'INVALID_FOREIGN_KEY',
      );
      expect(names(eventLog).some((name) => name.startsWith('action'))).to.equal(false);
    }));

  it('a filter changes a payload before it is validated', () =>
    listening(
      (host) => {
        host.events.onFilter('up.items.create', (payload) => ({
          ...(payload as Row),
          name: `${(payload as Row).name}!`,
        }));
        host.events.onFilter('items.update', (payload) => ({ ...(payload as Row), unknown: 1 }));
      },
      async (send) => {
        expect((await send('POST', '/items/up?fields=name', { name: 'a' })).body).to.deep.equal({
          data: { name: 'a!' },
        });
        const reply = await send('PATCH', '/items/up/1', { name: 'a' });
        expect([reply.status, reply.body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
      },
    ));

  it('a filter that throws rejects the whole request, and nothing is written', () =>
    listening(
      (host) => {
        host.events.onFilter('down.items.create', (payload) => {
          if ((payload as Row).word === 'bad') throw fail('INVALID_PAYLOAD', 'not this word');
        });
        host.events.onFilter('up.items.delete', () => {
          throw fail('FORBIDDEN', 'never');
        });
        host.events.onFilter('up.items.update', () => {
          throw new Error('a bug');
        });
      },
      async (send) => {
        const reply = await send('POST', '/items/up', { name: 'a', downs: [{ word: 'good' }, { word: 'bad' }] });
        expect([reply.status, reply.body.errors[0].message]).to.deep.equal([400, 'not this word']);
        expect((await send('DELETE', '/items/up', [1])).status).to.equal(403);
        expect((await send('PATCH', '/items/up/1', { name: 'x' })).status).to.equal(500);
        expect(await database.query('select name from up')).to.deep.equal([{ name: 'first' }]);
        expect(await database.query('select * from down')).to.deep.equal([]);
      },
    ));

  it('filters change a query and the rows that are read', () =>
    listening(
      (host) => {
        host.events.onFilter('up.items.query', (query) => ({ ...(query as Row), limit: 1, sort: '-id' }));
        host.events.onFilter('up.items.read', (rows) => (rows as Row[]).map((row) => ({ ...row, seen: true })));
      },
      async (send) => {
        await send('POST', '/items/up', { name: 'second' });
        expect((await send('GET', '/items/up?fields=name')).body).to.deep.equal({
          data: [{ name: 'second', seen: true }],
        });
        expect((await send('GET', '/items/up/1?fields=name&meta=total_count')).body.data).to.deep.equal({
          name: 'first',
          seen: true,
        });
        expect((await send('GET', '/items/down')).body).to.deep.equal({ data: [] });
      },
    ));

  it('filters receive the query as an object, however the client wrote it', () =>
    listening(
      (host, eventLog) => {
        host.events.onFilter('up.items.query', (payload) => {
          const query = payload as Row;
          eventLog.push({ kind: 'filter', event: 'query', payload: structuredClone(query), meta: {} });
          return query.filter ? { ...query, filter: { _and: [query.filter, { id: { _lt: 3 } }] } } : query;
        });
        host.events.onAction('up.items.read', ({ query }) => {
          eventLog.push({ kind: 'action', event: 'read', payload: query, meta: {} });
        });
      },
      async (send, eventLog) => {
        await send('POST', '/items/up', [{ name: 'b' }, { name: 'c' }]);
        eventLog.length = 0;
        const filter = { id: { _gt: 1 } };
        const text = encodeURIComponent(JSON.stringify(filter));
        const reply = await send('GET', `/items/up?fields=id,name&sort=-id&limit=5&meta=filter_count&filter=${text}`);
        expect(reply.body).to.deep.equal({ data: [{ id: 2, name: 'b' }], meta: { filter_count: 1 } });
        const query = { fields: ['id', 'name'], sort: ['-id'], limit: 5, meta: ['filter_count'], filter };
        expect(eventLog.map(({ payload }) => payload)).to.deep.equal([query, query]);
        expect((await send('GET', '/items/up?filter=nonsense')).body.errors[0].extensions.code).to.equal(
          'INVALID_QUERY',
        );
      },
    ));

  it('delete actions do not fire where no row was deleted', () =>
    listening(everything, async (send, eventLog) => {
      expect((await send('DELETE', '/items/up/99')).status).to.equal(204);
      expect((await send('DELETE', '/items/up', [1, 99])).status).to.equal(204);
      const actions = eventLog.filter(({ kind, event }) => kind === 'action' && event === 'items.delete');
      expect(actions.map(({ meta }) => meta.keys)).to.deep.equal([[1]]);
    }));

  it('a write survives an action that fails', () =>
    listening(
      (host) => {
        host.events.onAction('items.create', () => {
          throw new Error('a bug');
        });
      },
      async (send) => {
        expect((await send('POST', '/items/up?fields=name', { name: 'a' })).status).to.equal(200);
        expect((await send('GET', '/items/up?fields=name')).status).to.equal(200);
      },
    ));

  it('filters fire once where a list is rejected and its row is searched for, and their changes count', () =>
    listening(
      (host, eventLog) => {
        everything(host, eventLog);
        host.events.onFilter('down.items.create', (payload) => ({ ...(payload as Row), word: 'changed' }));
      },
      async (send, eventLog) => {
        await database.query(`alter table down add column n int check (n > 0), add unique (word, n)`);
        const { body } = await send('POST', '/items/up', [
          { name: 'a' },
          { name: 'b', downs: [{ n: 1 }, { n: 2 }, { n: 2, word: 'other' }] },
        ]);
        expect(body.errors[0].extensions).to.deep.include({ code: 'RECORD_NOT_UNIQUE', path: [1, 'downs', 2] });
        expect(names(eventLog)).to.deep.equal([
          ...['filter items.create', 'filter up.items.create', 'filter items.create', 'filter up.items.create'],
          ...Array.from({ length: 3 }, () => ['filter items.create', 'filter down.items.create']).flat(),
        ]);
        expect(await database.query('select from down')).to.deep.equal([]);
      },
    ));
});

async function eventually(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!holds() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
}
