import type { FreshDatabase } from '../../test/support/database.ts';
import { type BenchRequest, type BenchScenario, buildBenchRequest, isWriteBenchScenario } from './bench-scenarios.ts';
import type { BenchServer, BenchServers } from './compared-servers.ts';
import { deleteBenchWrites } from './data.ts';

export interface AnswerDifference {
  readonly text: string;
  /**
   * True where a server answers an error, so that there is nothing to measure; false where the two servers answer or store
   * different things.
   */
  readonly refused: boolean;
}

const refused = (side: BenchServer, { status, text }: Answer): AnswerDifference => ({
  text: `the ${side.name} server answers ${status}: ${text.slice(0, 300)}`,
  refused: true,
});

/** Reads must be answered byte for byte alike; writes must leave the same number of rows behind. */
export const compareAnswers = (
  sides: BenchServers,
  shape: BenchScenario,
  scale: number,
  database: FreshDatabase,
): Promise<AnswerDifference | undefined> =>
  isWriteBenchScenario(shape) ? compareWrites(sides, shape, scale, database) : compareReads(sides, shape, scale);

async function compareReads(
  { service, ideal }: BenchServers,
  shape: BenchScenario,
  scale: number,
): Promise<AnswerDifference | undefined> {
  for (const n of shape.table ? [1, 2, 3] : [1]) {
    const ask = buildBenchRequest(shape, n, scale);
    const [ours, best] = await Promise.all([send(service, shape, ask), send(ideal, shape, ask)]);
    if (ours.status !== 200) return refused(service, ours);
    if (best.status !== 200) return refused(ideal, best);
    if (ours.text !== best.text)
      return { text: `the answers differ ${difference(ours.text, best.text)}`, refused: false };
  }
  return undefined;
}

async function compareWrites(
  sides: BenchServers,
  shape: BenchScenario,
  scale: number,
  database: FreshDatabase,
): Promise<AnswerDifference | undefined> {
  const left: Record<string, number>[] = [];
  for (const [side, history] of [
    [sides.service, 'platform'],
    [sides.ideal, 'ideal'],
  ] as const) {
    await deleteBenchWrites(database);
    const answer = await send(side, shape, buildBenchRequest(shape, 1, scale));
    if (answer.status !== 200) return refused(side, answer);
    const { data } = JSON.parse(answer.text);
    left.push({
      'rows answered': Array.isArray(data) ? data.length : 1,
      'rows there': await count(database, shape.target as string),
      'rows of activity': await count(database, `${history}_activity`, "collection <> 'older'"),
      'rows of revisions': await count(database, `${history}_revisions`, "collection <> 'older'"),
    });
  }
  await deleteBenchWrites(database);
  const [ours = {}, best = {}] = left;
  const wrong = Object.keys(ours).filter((what) => ours[what] !== best[what]);
  if (wrong.length === 0) return undefined;
  const text = wrong
    .map((what) => `${what}: ${ours[what]} by the service, ${best[what]} by the ideal server`)
    .join('; ');
  return { text, refused: false };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function send(side: BenchServer, shape: BenchScenario, { method, path, body }: BenchRequest): Promise<Answer> {
  const headers = Object.fromEntries(side.headers(shape).map((line) => line.split(': ') as [string, string]));
  const response = await fetch(new URL(path, side.url), {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

/** Rows of a table; 0 where there is no such table. */
async function count(database: FreshDatabase, table: string, where = 'true'): Promise<number> {
  const [there] = await database.query<{ name: string | null }>('select to_regclass($1)::text as name', [`"${table}"`]);
  if (!there?.name) return 0;
  const [row] = await database.query<{ count: number }>(`select count(*)::int as count from "${table}" where ${where}`);
  return row?.count ?? 0;
}

function difference(ours: string, best: string): string {
  let at = 0;
  while (ours[at] === best[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 60), at + 60);
  return `at character ${at}:\n    service …${around(ours)}…\n    ideal   …${around(best)}…`;
}
