import { expect } from 'chai';
import { loadData } from '../../scripts/bench/data.ts';
import { prepareModel } from '../../scripts/bench/model.ts';
import { askOf, isWrite, SHAPES, type Shape } from '../../scripts/bench/shapes.ts';
import type { FreshDatabase } from '../support/database.ts';
import { type InProcess, migratedDatabase, startService } from '../support/service.ts';
import { statementsDuring } from '../support/statements.ts';

const SCALE = 0.01;

describe('a read is one statement, whatever its shape, and answers what the statement written by hand does', () => {
  let database: FreshDatabase;
  let service: InProcess;
  let editor: string;
  before(async () => {
    database = await migratedDatabase('one_statement');
    await loadData(database, SCALE);
    service = await startService({ database });
    editor = await prepareModel(service);
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  /** The answer as the bench's hand-written statement has it. */
  async function byHand(shape: Shape, n: number): Promise<unknown> {
    const { path, body } = askOf(shape, n, SCALE);
    const id = /\/(\d+)\?/.exec(path)?.[1] ?? '';
    const [row] = await database.query<{ data: string; meta?: string }>(
      shape.ideal,
      shape.params?.(id, body as never) ?? [],
    );
    const meta = row?.meta === undefined ? {} : { meta: JSON.parse(row.meta) };
    return { data: JSON.parse(row?.data as string), ...meta };
  }

  for (const shape of SHAPES.filter((one) => !isWrite(one))) {
    it(shape.name, async () => {
      const token = shape.as === 'editor' ? editor : service.admin.token;
      const ask = (n: number) => {
        const { method, path, body } = askOf(shape, n, SCALE);
        return service.request(method, path, { token, body });
      };
      // What is remembered from now on is asked once: permissions, the schema, whether the user is still active.
      for (let n = 0; n < 2; n++) {
        const { status, body } = await ask(n);
        expect(status, JSON.stringify(body).slice(0, 500)).to.equal(200);
        expect(body).to.deep.equal(await byHand(shape, n));
      }
      const runs: (readonly string[])[] = [];
      for (let n = 2; n < 5; n++) runs.push(withoutFetches(await statementsDuring(() => ask(n))));
      // News from the database may have something remembered asked anew in between, so one of three must be alone; the
      // read itself is one statement every time.
      const [table] = /(?<=\/items\/)\w+/.exec(shape.path) ?? [];
      for (const texts of runs) {
        expect(
          texts.filter((text) => text.includes(`"${table}"`)),
          texts.join('\n\n'),
        ).to.have.length(1);
      }
      const fewest = runs.toSorted((a, b) => a.length - b.length)[0] ?? [];
      expect(fewest, fewest.join('\n\n')).to.have.length(1);
    });
  }
});

/** A long answer comes through a cursor: one statement, declared once, whose rows are fetched in parts. */
const FETCHING = /^(begin\b|fetch \d+ from |close |commit$)/;

const withoutFetches = (texts: readonly string[]): readonly string[] =>
  texts.some((text) => text.startsWith('declare ')) ? texts.filter((text) => !FETCHING.test(text)) : texts;
