import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import type { Host } from '#kernel';
import { recordStatementsDuring } from '../support/capture-sql-statements.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { type TestComposition, writeTestPluginPackages } from '../support/test-plugins.ts';

const MARK = 'a title that no other text contains';

/** Counts the calls of JSON.parse whose text contains MARK: each one parses rows into objects. */
async function parsedDuring(work: () => Promise<unknown>): Promise<number> {
  const original = JSON.parse;
  let parsed = 0;
  JSON.parse = (text: string, ...rest: never[]) => {
    if (typeof text === 'string' && text.includes(MARK)) parsed++;
    return original(text, ...rest);
  };
  try {
    await work();
  } finally {
    JSON.parse = original;
  }
  return parsed;
}

describe('listeners of one collection', () => {
  let database: FreshDatabase;
  let sketched: TestComposition;
  let service: InProcessService;
  let host: Host;
  before(async () => {
    database = await createMigratedDatabase('fast_path');
    await database.query(`
      create table loud (id serial primary key, title text);
      create table other (id serial primary key, title text);
      create table tree (id serial primary key, title text, parent int references tree (id));
      insert into tree (title) values ('root');
      insert into loud (title) values ('${MARK}');
      insert into other (title) values ('${MARK}');
    `);
    sketched = await writeTestPluginPackages([
      {
        name: 'automations',
        // Grants all events, as a plugin for flows needs; the test listens to one event for a while.
        manifest: { capabilities: { events: { filter: ['**'], action: ['**'] } } },
        register: (pluginHost) => void (host = pluginHost),
      },
    ]);
    service = await startService({ database, plugins: sketched.composition.plugins });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
    await sketched?.remove();
    if (sketched) await rm(sketched.folder, { recursive: true, force: true });
  });

  /** The statements of a second, cached read of the collection, and the number of its rows parsed into objects. */
  const statementsOf = async (collection: string) => {
    const read = () => fetch(`${service.url}/items/${collection}`, { headers }).then((reply) => reply.text());
    const headers = { authorization: `Bearer ${service.admin.token}` };
    await read();
    let texts: readonly string[] = [];
    const parsed = await parsedDuring(async () => {
      texts = await recordStatementsDuring(read);
    });
    return { texts, parsed };
  };

  it('for reads leave the statements and rows of all other collections unchanged, and those of its own once it is removed', async () => {
    const before = { loud: await statementsOf('loud'), other: await statementsOf('other') };
    expect(before.other.texts).to.have.length(1);
    expect([before.loud.parsed, before.other.parsed], 'no row is made into an object').to.deep.equal([0, 0]);
    let listenerCalls = 0;
    const off = host.events.onFilter('loud.items.read', () => void listenerCalls++);
    expect(await statementsOf('other')).to.deep.equal(before.other);
    const loud = await statementsOf('loud');
    expect(listenerCalls, 'the listener is called for both reads of the collection').to.equal(2);
    expect(loud.parsed, 'its rows are made for the listener').to.be.above(0);
    off();
    expect(await statementsOf('loud')).to.deep.equal(before.loud);
  });

  describe('for writes', () => {
    type Write = readonly [method: string, path: string, body: object];
    /** The number of statements of a second write, whose plans are in memory. */
    const countOf = async (...[method, path, body]: Write): Promise<number> => {
      const write = () => service.request(method, path, { token: service.admin.token, body });
      expect((await write()).status).to.equal(200);
      return (await recordStatementsDuring(write)).length;
    };
    const countWith = async (event: string, ...write: Write): Promise<number> => {
      const off = host.events.onAction(event, () => {});
      try {
        return await countOf(...write);
      } finally {
        off();
      }
    };
    const create: Write = ['POST', '/items/tree', { title: 'leaf' }];
    const update: Write = ['PATCH', '/items/tree/1', { title: 'trunk' }];

    for (const [verb, write, other] of [
      ['create', create, ['update', 'delete']],
      ['update', update, ['create', 'delete']],
    ] as const)
      it(`cost a ${verb} nothing where they listen to another verb, and a read where they may change its row`, async () => {
        const alone = await countOf(...write);
        for (const one of other) expect(await countWith(`tree.items.${one}`, ...write), one).to.equal(alone);
        expect(await countWith(`tree.items.${verb}`, ...write)).to.equal(alone + 1);
        expect(await countOf(...write)).to.equal(alone);
      });

    it('of another verb cost a read where a nested row of the same collection calls them', async () => {
      const nested: Write = ['POST', '/items/tree', { title: 'leaf', parent: { id: 1, title: 'trunk' } }];
      const alone = await countOf(...nested);
      expect(await countWith('tree.items.update', ...nested)).to.equal(alone + 1);
      const grown: Write = ['PATCH', '/items/tree/1', { title: 'trunk', parent: { title: 'ground' } }];
      expect(await countWith('tree.items.create', ...grown)).to.equal((await countOf(...grown)) + 1);
    });
  });
});
