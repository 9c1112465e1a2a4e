import { expect } from 'chai';
import { type Caller, fail } from '#kernel';
import { type BrokerRefusal, InvocationSecrets } from '../../../../plugins/broker/library.ts';
import { captureError } from '../../../support/test-plugins.ts';
import {
  type CallItemsMethod,
  createItemsCaller,
  createItemsMethodCaller,
  type ItemsCapabilityFixture,
  ROLE_ID,
  startItemsCapability,
  USER_ID,
} from './items-fixture.ts';

const SQL = `
  create table authors (id serial primary key, name text, secret text);
  create table articles (
    id serial primary key, title text not null, body text, hidden text, views int default 0,
    author int references authors, owner uuid references platform_users
  );
  create table notes (id serial primary key, text text, article int references articles);
  create table vault (id serial primary key, code text);
  insert into platform_fields (collection, field, special) values ('articles', 'notes', 'o2m');
  insert into platform_relations (many_collection, many_field, one_collection, one_field)
    values ('notes', 'article', 'articles', 'notes');
  insert into authors (name, secret) values ('Ann', 's1'), ('Ben', 's2');
  insert into platform_roles (id, name) values ('${ROLE_ID}', 'Editor');
  insert into platform_users (id, email, role) values ('${USER_ID}', 'editor@example.com', '${ROLE_ID}');
  insert into articles (title, body, hidden, views, author, owner) values
    ('one', 'b1', 'h1', 1, 1, '${USER_ID}'), ('two', 'b2', 'h2', 2, 2, null), ('three', 'b3', 'h3', 3, 1, null);
  insert into notes (text, article) values ('n1', 1);
  insert into vault (code) values ('42');
  insert into platform_permissions (role, collection, action, permissions, validation, fields) values
    ('${ROLE_ID}', 'articles', 'read', '{"views":{"_lt":3}}', null, 'id,title,body,views,author,notes,owner'),
    ('${ROLE_ID}', 'articles', 'create', null, '{"title":{"_neq":"bad"}}', 'title,body,notes'),
    ('${ROLE_ID}', 'articles', 'update', '{"views":{"_lt":3}}', null, 'title,notes'),
    ('${ROLE_ID}', 'articles', 'delete', '{"views":{"_lt":3}}', null, '*'),
    ('${ROLE_ID}', 'authors', 'read', null, null, 'id,name'),
    ('${ROLE_ID}', 'notes', 'read', null, null, '*'),
    ('${ROLE_ID}', 'notes', 'create', null, null, '*'),
    ('${ROLE_ID}', 'notes', 'update', null, null, '*'),
    ('${ROLE_ID}', 'platform_users', 'read', null, null, 'id,email');`;

describe('the capability items', () => {
  let service: ItemsCapabilityFixture;
  let asUser: CallItemsMethod;
  let asAnonymous: CallItemsMethod;
  before(async () => {
    service = await startItemsCapability(SQL);
    asUser = createItemsMethodCaller(service, { accountability: 'user' });
    asAnonymous = createItemsMethodCaller(service, 'system');
  });
  after(() => service?.stop());

  const codeOf = async (run: Promise<unknown>) => (await captureError<BrokerRefusal>(run)).code;
  const denied = async (run: Promise<unknown>) => {
    const refusal = await captureError<BrokerRefusal>(run);
    expect([refusal.code, refusal.message]).to.deep.equal(['denied', 'Not allowed.']);
  };
  const count = async (table: string) =>
    Number((await service.database.query<{ n: string }>(`select count(*) n from ${table}`))[0]?.n);

  describe('reads as the user', () => {
    it('answer the rows and fields that the user may read', async () => {
      const rows = (await asUser('readMany', ['articles', { sort: ['id'] }])) as Record<string, unknown>[];
      expect(rows.map(({ title }) => title)).to.deep.equal(['one', 'two']);
      expect(Object.keys(rows[0] ?? {}).sort()).to.deep.equal([
        'author',
        'body',
        'id',
        'notes',
        'owner',
        'title',
        'views',
      ]);
      const query = {
        fields: ['title', 'author.name', 'notes.text', 'owner.email'],
        filter: { author: { name: { _eq: 'Ann' } } },
      };
      expect(await asUser('read', ['articles', query])).to.deep.equal([
        { title: 'one', author: { name: 'Ann' }, notes: [{ text: 'n1' }], owner: { email: 'editor@example.com' } },
      ]);
    });

    it('answer one row, or null for a missing row, a hidden row and an invalid key', async () => {
      expect(await asUser('readOne', ['articles', 1, { fields: ['title'] }])).to.deep.equal({ title: 'one' });
      for (const key of [3, 9999, 'x', -1])
        expect(await asUser('readOne', ['articles', key]), String(key)).to.equal(null);
    });

    it('are rejected with FORBIDDEN for what the user may not read, hidden or missing', async () => {
      for (const [collection, query] of [
        ['vault', {}],
        ['nowhere', {}],
        ['platform_users', {}],
        ['platform_sessions', {}],
        ['platform_settings', {}],
        ['articles', { fields: ['hidden'] }],
        ['articles', { fields: ['*', 'hidden'] }],
        ['articles', { fields: ['nothing'] }],
        ['articles', { fields: ['author.secret'] }],
        ['articles', { fields: ['author.name.more'] }],
        ['articles', { fields: ['title.more'] }],
        ['articles', { fields: ['owner.role'] }],
        ['articles', { filter: { hidden: { _eq: 'h1' } } }],
        ['articles', { filter: { author: { secret: { _eq: 's1' } } } }],
        ['articles', { sort: ['hidden'] }],
        ['articles', { sort: ['author.secret'] }],
      ] as const) {
        await denied(asUser('readMany', [collection, query]));
        await denied(asUser('readOne', [collection, 1, query]));
      }
    });

    it('are limited by the bounds of queries', async () => {
      for (const query of [{ deep: {} }, { limit: -1 }, { fields: ['*.*'] }, { filter: { title: 'one' } }])
        expect(await codeOf(asUser('readMany', ['articles', query]))).to.equal('invalid_request');
      expect(await codeOf(asUser('readMany', ['articles', { filter: { views: { _contains: 'x' } } }]))).to.equal(
        'invalid_request',
      );
      for (const args of [[], [7], ['articles', 'x'], ['articles', {}, {}], ['']])
        expect(await codeOf(asUser('readMany', args)), JSON.stringify(args)).to.equal('invalid_request');
    });

    it('are rejected without a user behind the call', async () => {
      const system = service.host.asSystem('test');
      for (const who of [
        null,
        system,
        { ...system },
        createItemsCaller({ user: null, admin: true }),
      ] as (Caller | null)[]) {
        expect(await codeOf(asUser('readMany', ['articles'], who))).to.equal('denied');
        expect(await codeOf(asUser('createOne', ['articles', { title: 'x' }], who))).to.equal('denied');
      }
    });

    it('apply the Public role to anonymous callers', async () => {
      await denied(asUser('readMany', ['articles'], createItemsCaller({ user: null, role: null })));
    });

    it('do not call listeners', async () => {
      const eventLog: string[] = [];
      service.host.events.onFilter('**', (_payload, { event }) => void eventLog.push(event));
      service.host.events.onAction('**', ({ event }) => void eventLog.push(event));
      await asUser('readMany', ['articles']);
      await asUser('readOne', ['articles', 1]);
      expect(eventLog).to.deep.equal([]);
      const [key] = (await asUser('createMany', ['articles', [{ title: 'received' }]])) as [number];
      expect(eventLog).to.include.members(['items.create', 'articles.items.create']);
      await asUser('deleteOne', ['articles', key]);
    });

    it('find a column that was just created', async () => {
      await service.database.query('alter table authors add column fresh text');
      const query = { fields: ['author.fresh'], limit: 1 };
      expect(await asAnonymous('readMany', ['articles', query])).to.deep.equal([{ author: { fresh: null } }]);
    });

    it('answer at most 2 MiB', async () => {
      await service.database.query(`update articles set body = repeat('x', 1500000) where id in (1, 2)`);
      expect(await codeOf(asUser('readMany', ['articles', { fields: ['body'] }]))).to.equal('invalid_request');
      expect(
        ((await asUser('readOne', ['articles', 1, { fields: ['body'] }])) as { body: string }).body.length,
      ).to.equal(1_500_000);
      await service.database.query(`update articles set body = 'b' where id in (1, 2)`);
    });
  });

  describe('writes as the user', () => {
    it('write what the user may and answer keys', async () => {
      const key = (await asUser('createOne', ['articles', { title: 'new', notes: [{ text: 'n' }] }])) as number;
      expect(await asUser('readOne', ['articles', key, { fields: ['title', 'notes.text'] }])).to.deep.equal({
        title: 'new',
        notes: [{ text: 'n' }],
      });
      expect(await asUser('updateOne', ['articles', key, { title: 'newer' }])).to.equal(key);
      const more = (await asUser('createMany', ['articles', [{ title: 'a' }, { title: 'b' }]])) as number[];
      expect(await asUser('updateMany', ['articles', more, { title: 'c' }])).to.deep.equal(more);
      await service.database.query('delete from notes where article = $1', [key]);
      expect(await asUser('deleteMany', ['articles', more])).to.deep.equal(more);
      expect(await asUser('deleteOne', ['articles', key])).to.equal(key);
    });

    it('are rejected with FORBIDDEN for what the user may not write', async () => {
      for (const [method, args] of [
        ['createOne', ['vault', { code: '1' }]],
        ['createOne', ['nowhere', {}]],
        ['createOne', ['platform_users', { email: 'x@example.com' }]],
        ['createOne', ['articles', { title: 'x', hidden: 'x' }]],
        ['createOne', ['articles', { title: 'x', nothing: 1 }]],
        ['createOne', ['articles', { title: 'x', owner: { email: 'evil@example.com' } }]],
        ['updateOne', ['articles', 1, { body: 'x' }]],
        ['updateOne', ['articles', 3, { title: 'x' }]],
        ['updateOne', ['articles', 9999, { title: 'x' }]],
        ['updateMany', ['articles', [1, 3], { title: 'x' }]],
        ['deleteOne', ['articles', 3]],
        ['deleteOne', ['articles', 9999]],
        ['deleteMany', ['articles', [1, 3]]],
        ['deleteOne', ['authors', 1]],
      ] as const)
        await denied(asUser(method, args));
      expect(await count(`articles where title = 'x'`)).to.equal(0);
    });

    it('never write nested rows of system collections, not even for an admin', async () => {
      const before = await count('platform_users');
      const admin = createItemsCaller({ admin: true });
      const evil = { email: 'evil@example.com', role: ROLE_ID };
      await denied(asUser('createOne', ['articles', { title: 'evil', owner: evil }], admin));
      await denied(asUser('updateOne', ['articles', 1, { owner: { id: USER_ID, ...evil } }], admin));
      expect([await count('platform_users'), await count(`articles where title = 'evil'`)]).to.deep.equal([before, 0]);
      expect(await count(`platform_users where email = 'evil@example.com'`)).to.equal(0);
    });

    it('answer errors of a payload, and no details of other failures', async () => {
      expect(await codeOf(asUser('createOne', ['articles', { title: 'bad' }]))).to.equal('invalid_request');
      expect(await codeOf(asAnonymous('createOne', ['articles', { title: 'x', views: 'many' }]))).to.equal(
        'invalid_request',
      );
      expect(await codeOf(asAnonymous('createOne', ['articles', { title: 'x', author: 9999 }]))).to.equal('internal');
      for (const [method, args] of [
        ['createOne', ['articles', []]],
        ['createOne', ['articles']],
        ['createMany', ['articles', {}]],
        ['updateOne', ['articles', null, {}]],
        ['updateMany', ['articles', [1, 1], { title: 'x' }]],
        ['deleteMany', ['articles', 1]],
      ] as const)
        expect(await codeOf(asUser(method, args)), method).to.equal('invalid_request');
    });

    it('are recorded with the package and the user', async () => {
      const key = (await asUser('createOne', ['articles', { title: 'who' }])) as number;
      const [row] = await service.database.query(
        `select "user", owner, ip from platform_activity where collection = 'articles' and item = $1`,
        [String(key)],
      );
      expect(row).to.deep.equal({ user: USER_ID, owner: 'pilot@2.0.0', ip: '192.0.2.7' });
      await asUser('deleteOne', ['articles', key]);
    });

    it('reject payloads that contain a secret', async () => {
      const secrets = new InvocationSecrets();
      const { ref } = secrets.conceal('hunter2');
      expect(await codeOf(asUser('createOne', ['articles', { title: ref }], createItemsCaller(), secrets))).to.equal(
        'denied',
      );
      expect(await codeOf(asUser('readMany', ['articles', { search: ref }], createItemsCaller(), secrets))).to.equal(
        'denied',
      );
    });
  });

  describe('with full access', () => {
    it('reads and writes without permissions, also without a user', async () => {
      expect(await asAnonymous('readMany', ['vault', { fields: ['code'] }], null)).to.deep.equal([{ code: '42' }]);
      const key = (await asAnonymous('createOne', ['vault', { code: '43' }], null)) as number;
      expect(await asAnonymous('updateOne', ['vault', key, { code: '44' }], null)).to.equal(key);
      expect(await asAnonymous('deleteOne', ['vault', key], null)).to.equal(key);
      expect(await asAnonymous('deleteOne', ['vault', key], null)).to.equal(null);
      const query = { fields: ['owner.email', 'author.secret'], filter: { id: { _eq: 1 } } };
      expect(await asAnonymous('readMany', ['articles', query])).to.deep.equal([
        { owner: { email: 'editor@example.com' }, author: { secret: 's1' } },
      ]);
    });

    it('the access is counted in the ledger', () => {
      const did = service.subjects.account().did.filter(({ kind }) => kind === 'system');
      expect(did.map(({ plugin, what }) => `${plugin} ${what}`)).to.include(
        'pilot@2.0.0 confined code with full access',
      );
    });

    it('system collections, nested ones and missing collections are rejected with FORBIDDEN', async () => {
      for (const collection of ['platform_users', 'platform_permissions', 'platform_sessions', 'nowhere', 'pg_class']) {
        await denied(asAnonymous('readMany', [collection]));
        await denied(asAnonymous('createOne', [collection, {}]));
        await denied(asAnonymous('deleteMany', [collection, [1]]));
      }
      await denied(asAnonymous('readMany', ['articles', { fields: ['nothing'] }]));
    });

    it('nested rows of system collections are not written', async () => {
      const before = await count('platform_users');
      await denied(
        asAnonymous('createOne', ['articles', { title: 'evil', owner: { email: 'evil@example.com', role: ROLE_ID } }]),
      );
      await denied(asAnonymous('updateOne', ['articles', 1, { owner: { id: USER_ID, email: 'evil@example.com' } }]));
      expect([await count('platform_users'), await count(`articles where title = 'evil'`)]).to.deep.equal([before, 0]);
      // Keys of system collections are accepted as values.
      const key = (await asAnonymous('createOne', ['articles', { title: 'kind', owner: USER_ID }])) as number;
      await asAnonymous('deleteOne', ['articles', key]);
    });
  });

  describe('a grant with collections and actions', () => {
    it('allows no other collections and no other actions', async () => {
      const narrow = createItemsMethodCaller(service, {
        accountability: 'full-access',
        collections: ['articles'],
        actions: ['read', 'create'],
      });
      expect(await narrow('readMany', ['articles', { fields: ['title'], limit: 1 }])).to.have.length(1);
      for (const [method, args] of [
        ['readMany', ['vault']],
        ['readOne', ['vault', 1]],
        ['createOne', ['vault', { code: 'x' }]],
        ['updateOne', ['articles', 1, { title: 'x' }]],
        ['deleteOne', ['articles', 1]],
      ] as const)
        await denied(narrow(method, args));
    });

    it('allows no relations to other collections', async () => {
      const narrow = createItemsMethodCaller(service, {
        accountability: 'full-access',
        collections: ['articles', 'platform_users'],
      });
      expect(
        await narrow('readMany', ['articles', { fields: ['owner.email', 'author'], limit: 1, sort: ['id'] }]),
      ).to.deep.equal([{ owner: { email: 'editor@example.com' }, author: 1 }]);
      for (const query of [
        { fields: ['author.name'] },
        { fields: ['notes'] },
        { fields: ['count(notes)'] },
        { filter: { author: { name: { _eq: 'Ann' } } } },
        { filter: { _or: [{ notes: { text: { _eq: 'n1' } } }] } },
        { filter: { 'count(notes)': { _gt: 0 } } },
        { sort: ['author.name'] },
      ])
        await denied(narrow('readMany', ['articles', query]));
      for (const payload of [
        { notes: [{ text: 'x' }] },
        { author: { name: 'x' } },
        { owner: { id: USER_ID, email: 'x@example.com' } },
      ])
        await denied(narrow('updateOne', ['articles', 1, payload]));
      await denied(narrow('readMany', ['platform_users']));
      const written = createItemsMethodCaller(service, { accountability: 'user', actions: ['read', 'create'] });
      await denied(written('createOne', ['articles', { title: 'x', notes: [1] }]));
    });
  });

  it('a call writes at most 500 rows, and nothing where it would be more', async () => {
    const before: readonly [number, number] = [await count('articles'), await count('notes')];
    const rows = Array.from({ length: 100 }, () => ({ title: 'many', notes: Array(4).fill({ text: 'x' }) }));
    const keys = (await asUser('createMany', ['articles', rows])) as number[];
    expect(keys).to.have.length(100);
    const tooMany = [...rows.slice(1), { title: 'many', notes: Array(5).fill({ text: 'x' }) }];
    expect(await codeOf(asUser('createMany', ['articles', tooMany]))).to.equal('invalid_request');
    expect([await count('articles'), await count('notes')]).to.deep.equal([before[0] + 100, before[1] + 400]);
    await service.database.query(`delete from notes where text = 'x'; delete from articles where title = 'many'`);
  });

  it('a read is cancelled with its invocation', async () => {
    const { subjects, database } = service;
    await database.query(`create view slow as select 1 as id, pg_sleep(120)::text as nap`);
    await database.query(
      `insert into platform_permissions (role, collection, action, fields) values ('${ROLE_ID}', 'slow', 'read', '*')`,
    );
    const brokerAccess = subjects.register({
      name: 'pilot',
      version: '2.0.0',
      runtime: 'confined',
      grants: { items: 'current-user' },
    });
    const stop = new AbortController();
    const who = createItemsCaller({ admin: true });
    const invocation = { id: 'run', caller: who, signal: stop.signal, secrets: new InvocationSecrets() };
    const running = captureError<BrokerRefusal>(brokerAccess.call('items.readMany', ['slow'], invocation));
    const isRunning = async () =>
      (
        await database.query(
          `select from pg_stat_activity where query like '%nap%' and query not like '%pg_stat%' and state = 'active'`,
        )
      ).length > 0;
    const deadline = Date.now() + 30_000;
    while (!(await isRunning()) && Date.now() < deadline);
    stop.abort(fail('SERVICE_UNAVAILABLE', 'the run is over'));
    expect((await running).code).to.equal('internal');
    while ((await isRunning()) && Date.now() < deadline);
    expect(await isRunning()).to.equal(false);
  });
});
