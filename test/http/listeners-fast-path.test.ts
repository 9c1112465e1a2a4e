import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import type { Host } from '#kernel';
import type { FreshDatabase } from '../support/database.ts';
import { type Sketched, sketch } from '../support/plugin.ts';
import { type InProcess, migratedDatabase, startService } from '../support/service.ts';
import { statementsDuring } from '../support/statements.ts';

const MARK = 'a title that no other text contains';

/** Texts with the mark that this process parses while `work` runs: rows that became objects. */
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

describe('a read listener of one collection', () => {
  let database: FreshDatabase;
  let sketched: Sketched;
  let service: InProcess;
  let host: Host;
  before(async () => {
    database = await migratedDatabase('fast_path');
    await database.query(`
      create table loud (id serial primary key, title text);
      create table silent (id serial primary key, title text);
      insert into loud (title) values ('${MARK}');
      insert into silent (title) values ('${MARK}');
    `);
    sketched = await sketch([
      {
        name: 'automations',
        // As wide as what flows need; what it listens to is narrower and comes and goes.
        manifest: { capabilities: { events: { filter: ['**'], action: ['**'] } } },
        register: (given) => void (host = given),
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

  /** Statements of a second read, once what is remembered of the first one is there. */
  const statementsOf = async (collection: string) => {
    const read = () => fetch(`${service.url}/items/${collection}`, { headers }).then((reply) => reply.text());
    const headers = { authorization: `Bearer ${service.admin.token}` };
    await read();
    let texts: readonly string[] = [];
    const parsed = await parsedDuring(async () => {
      texts = await statementsDuring(read);
    });
    return { texts, parsed };
  };

  it('leaves the statements and rows of all other collections unchanged, and those of its own once it is removed', async () => {
    const before = { loud: await statementsOf('loud'), silent: await statementsOf('silent') };
    expect(before.silent.texts).to.have.length(1);
    expect([before.loud.parsed, before.silent.parsed], 'no row is made into an object').to.deep.equal([0, 0]);
    let heard = 0;
    const off = host.events.onFilter('loud.items.read', () => void heard++);
    expect(await statementsOf('silent')).to.deep.equal(before.silent);
    const loud = await statementsOf('loud');
    expect(heard, 'both reads of the collection are heard').to.equal(2);
    expect(loud.parsed, 'its rows are made for the listener').to.be.above(0);
    off();
    expect(await statementsOf('loud')).to.deep.equal(before.loud);
  });
});
