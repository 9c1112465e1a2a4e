import { access, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import {
  compileCaseToSql,
  createQueryTestDatabase,
  type QueryCase,
  type QueryTestDatabase,
  runQueryCase,
} from './query-cases.ts';

const folder = new URL('./cases/', import.meta.url);
const read = (path: string) => readFile(new URL(path, folder), 'utf8');
const names = (await readdir(folder)).sort();
const cases = new Map(
  await Promise.all(
    names.map(async (name) => [name, JSON.parse(await read(`${name}/query.json`)) as QueryCase] as const),
  ),
);
const schemas = [...new Set([...cases.values()].map(({ schema }) => schema))];
// UPDATE_CASES=1 writes expected.sql and expected.json of new cases, which begin as a folder with query.json.
const update = process.env.UPDATE_CASES === '1';

/** Every rule of the query language about reads, by section; `httpTests` names the test of a rule that needs HTTP. */
const rows = JSON.parse(await readFile(new URL('./rows.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, Readonly<Record<string, string>>>
>;
const known = Object.entries(rows.folders ?? {}).map(([row]) => row);
const shown = new Set([...cases.values()].flatMap(({ row }) => row));

describe('query fixtures', () => {
  const testSchemas = new Map<string, QueryTestDatabase>();
  before(async () => {
    for (const name of schemas) testSchemas.set(name, await createQueryTestDatabase(name));
  });
  after(async () => {
    await Promise.all([...testSchemas.values()].map(({ database }) => database.drop()));
    console.log(`    ${cases.size} fixture folders cover ${shown.size} rows of the query language`);
  });

  for (const [name, one] of cases) {
    it(`${name} has the expected statement and answer`, async () => {
      const testSchema = testSchemas.get(one.schema) as QueryTestDatabase;
      const answer = await runQueryCase(one, testSchema);
      // Undefined where the parser refuses the query.
      const sql = statementOf(one, testSchema);
      if (update) await write(name, sql, answer);
      expect(answer).to.deep.equal(JSON.parse(await read(`${name}/expected.json`)));
      const exists = await access(new URL(`${name}/expected.sql`, folder)).then(
        () => true,
        () => false,
      );
      expect(sql).to.equal(exists ? await read(`${name}/expected.sql`) : undefined);
    });
  }

  it('the fixtures cover every row of rows.json', () => {
    expect(known.filter((row) => !shown.has(row))).to.deep.equal([]);
  });

  it('every fixture names a row of rows.json', () => {
    expect([...shown].filter((row) => !known.includes(row))).to.deep.equal([]);
  });

  for (const [row, file] of Object.entries(rows.httpTests ?? {})) {
    it(`row ${row} of rows.json is covered by ${file}`, async () => {
      expect(await readFile(new URL(`../../../${file}`, import.meta.url), 'utf8')).to.include(`'${row}`);
    });
  }
});

function statementOf(one: QueryCase, { schema: snapshot }: QueryTestDatabase): string | undefined {
  try {
    const { text, params } = compileCaseToSql(one, snapshot);
    return `${text}\n-- ${JSON.stringify(params)}\n`;
  } catch {
    return undefined;
  }
}

async function write(name: string, sql: string | undefined, answer: object): Promise<void> {
  await writeFile(new URL(`${name}/expected.json`, folder), `${JSON.stringify(answer, null, 2)}\n`);
  const place = new URL(`${name}/expected.sql`, folder);
  if (sql === undefined) await rm(place, { force: true });
  else await writeFile(place, sql);
}
