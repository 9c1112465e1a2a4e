import { access, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { type Case, compileCase, type Ground, groundOf, runCase } from './harness.ts';

const folder = new URL('./cases/', import.meta.url);
const read = (path: string) => readFile(new URL(path, folder), 'utf8');
const names = (await readdir(folder)).sort();
const cases = new Map(
  await Promise.all(names.map(async (name) => [name, JSON.parse(await read(`${name}/query.json`)) as Case] as const)),
);
const schemas = [...new Set([...cases.values()].map(({ schema }) => schema))];
// A new case is a folder with query.json; running once with UPDATE_CASES=1 writes what to review and keep.
const update = process.env.UPDATE_CASES === '1';

/** Every row of the query language that concerns reads, by section; what only HTTP can show names the test that does. */
const rows = JSON.parse(await readFile(new URL('./rows.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, Readonly<Record<string, string>>>
>;
const known = Object.entries(rows.folders ?? {}).map(([row]) => row);
const shown = new Set([...cases.values()].flatMap(({ row }) => row));

describe('queries compile to one statement', () => {
  const grounds = new Map<string, Ground>();
  before(async () => {
    for (const name of schemas) grounds.set(name, await groundOf(name));
  });
  after(async () => {
    await Promise.all([...grounds.values()].map(({ database }) => database.drop()));
    console.log(`    ${cases.size} fixture folders cover ${shown.size} rows of the query language`);
  });

  for (const [name, one] of cases) {
    it(name, async () => {
      const ground = grounds.get(one.schema) as Ground;
      const answer = await runCase(one, ground);
      // A query that is refused while it is parsed has no statement.
      const sql = statementOf(one, ground);
      if (update) await write(name, sql, answer);
      expect(answer).to.deep.equal(JSON.parse(await read(`${name}/expected.json`)));
      const exists = await access(new URL(`${name}/expected.sql`, folder)).then(
        () => true,
        () => false,
      );
      expect(sql).to.equal(exists ? await read(`${name}/expected.sql`) : undefined);
    });
  }

  it('show every row of the query language', () => {
    expect(known.filter((row) => !shown.has(row))).to.deep.equal([]);
  });

  it('name only rows there are', () => {
    expect([...shown].filter((row) => !known.includes(row))).to.deep.equal([]);
  });

  for (const [row, file] of Object.entries(rows.elsewhere ?? {})) {
    it(`${row} is shown by ${file}`, async () => {
      expect(await readFile(new URL(`../../../${file}`, import.meta.url), 'utf8')).to.include(`'${row}`);
    });
  }
});

function statementOf(one: Case, { overview: snapshot }: Ground): string | undefined {
  try {
    const { text, params } = compileCase(one, snapshot);
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
