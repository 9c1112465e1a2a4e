import { readdir, readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { readStatement } from '../../../plugins/query/compile/read.ts';
import { Statement } from '../../../plugins/query/compile/statement.ts';
import { parseRead } from '../../../plugins/query/parse/parse.ts';
import type { Collection } from '../../../plugins/schema/contract.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { createTables, type Sketch, sketch } from './overview.ts';

const folder = new URL('./cases/', import.meta.url);
const read = (path: string) => readFile(new URL(path, folder), 'utf8');
const ceilings = { depth: 10, nodes: 2000, limitDefault: 100, limitMax: -1 };
const names = (await readdir(folder, { withFileTypes: true }))
  .filter((one) => one.isDirectory())
  .map((one) => one.name);
const tables = JSON.parse(await read('schema.json')) as Sketch;
const overview = sketch(tables);
// A new case is a folder with query.json; running once with UPDATE_CASES=1 writes what to review and keep.
const update = process.env.UPDATE_CASES === '1';

describe('queries compile to one statement', () => {
  let database: FreshDatabase;
  before(async () => {
    database = await freshDatabase('cases');
    await database.query(createTables(tables));
    await database.query(await read('rows.sql'));
  });
  after(() => database.drop());

  for (const name of names) {
    it(name, async () => {
      const { collection, query } = JSON.parse(await read(`${name}/query.json`));
      const statement = new Statement(overview);
      const tree = parseRead(overview.collections.get(collection) as Collection, query, { overview }, ceilings);
      const text = readStatement(statement, tree);
      const [row] = await database.query<{ data: string; meta?: string }>(text, statement.params);
      const answer = { data: JSON.parse(row?.data ?? 'null'), ...(row?.meta ? { meta: JSON.parse(row.meta) } : {}) };
      const compiled = `${text}\n-- ${JSON.stringify(statement.params)}\n`;
      if (update) {
        await writeFile(new URL(`${name}/expected.sql`, folder), compiled);
        await writeFile(new URL(`${name}/expected.json`, folder), `${JSON.stringify(answer, null, 2)}\n`);
      }
      expect(compiled).to.equal(await read(`${name}/expected.sql`));
      expect(answer).to.deep.equal(JSON.parse(await read(`${name}/expected.json`)));
    });
  }
});
