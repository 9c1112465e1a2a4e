import { benchRowKeyOf } from '../bench-scenarios.ts';
import type { AnswerDifference } from '../compare-answers.ts';
import type { GraphqlContender, GraphqlContenderName } from './contenders.ts';
import type { GraphqlBenchScenario } from './graphql-bench-scenarios.ts';

/** Returns the contenders whose answers differ from those of the first contender, each with the difference. */
export async function compareGraphqlAnswers(
  contenders: readonly GraphqlContender[],
  shape: GraphqlBenchScenario,
  scale: number,
): Promise<ReadonlyMap<GraphqlContenderName, AnswerDifference>> {
  const objections = new Map<GraphqlContenderName, AnswerDifference>();
  for (const n of shape.table ? [1, 2, 3] : [1]) {
    const id = shape.table ? benchRowKeyOf(shape.table, n, scale) : 0;
    let first: readonly unknown[] | undefined;
    for (const contender of contenders) {
      const answer = await rowsOf(contender, shape, id);
      if (typeof answer === 'string') {
        objections.set(contender.name, { text: answer, refused: true });
        continue;
      }
      first ??= answer;
      const text = difference(first, answer);
      if (text !== undefined && !objections.has(contender.name)) {
        objections.set(contender.name, { text, refused: false });
      }
    }
  }
  return objections;
}

/** Fetches the rows of an answer in a comparable form; a string says why there are none. */
async function rowsOf(
  { target, headers, ask }: GraphqlContender,
  shape: GraphqlBenchScenario,
  id: number,
): Promise<readonly unknown[] | string> {
  const { method, path, body } = ask(shape, id);
  const response = await fetch(new URL(path, target.url), {
    method,
    headers: {
      ...Object.fromEntries(headers.map((line) => line.split(': ') as [string, string])),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const refusal = `answers ${response.status}: ${text.slice(0, 500)}`;
  if (response.status !== 200) return refusal;
  const { data, errors } = JSON.parse(text);
  if (errors || !data) return refusal;
  const rows = path === '/graphql' ? data.article : data;
  return (Array.isArray(rows) ? rows : [rows]).map((row) => comparable('', row));
}

/**
 * Normalizes a value for the comparison: the servers write keys and exact numbers as strings or as numbers, and timestamps in
 * different formats.
 */
function comparable(name: string, value: unknown): unknown {
  if (value === null || name === 'meta') return value;
  if (Array.isArray(value)) return value.map((one) => comparable(name, one));
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, comparable(key, inner)]));
  if (name === 'id') return String(value);
  if (name === 'price') return Number(value);
  return name.endsWith('_at') ? new Date(String(value)).toISOString() : value;
}

function difference(first: readonly unknown[], rows: readonly unknown[]): string | undefined {
  if (rows.length !== first.length) return `answers ${rows.length} rows, not ${first.length}`;
  const at = rows.findIndex((row, index) => JSON.stringify(row) !== JSON.stringify(first[index]));
  if (at < 0) return undefined;
  const [is, other] = [JSON.stringify(rows[at]), JSON.stringify(first[at])];
  let from = 0;
  while (is[from] === other[from]) from++;
  const around = (text: string) => `…${text.slice(Math.max(0, from - 60), from + 100)}…`;
  return `answers another row ${at}:\n    ${around(is)}\n    ${around(other)}`;
}
