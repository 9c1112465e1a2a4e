/**
 * `npm run bench:graphql [-- --seconds 2 --rounds 3 --connections 32 --scale 1 --only "by id" --contenders "GraphQL;REST, GET"]`:
 * compares the service's GraphQL with its own REST and with PostGraphile on the same rows of one database, in alternating rounds
 * of one run. Compare ratios; absolute numbers depend on the machine. `--profile <folder>` writes one CPU profile per process;
 * with one name in `--contenders` it covers only that contender.
 */
import { parseArgs } from 'node:util';
import { freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { loadBenchData, vacuumAndAnalyze } from './bench/data.ts';
import { compareGraphqlAnswers } from './bench/graphql/compare-answers.ts';
import { GRAPHQL_CONTENDER_NAMES, startContenders } from './bench/graphql/contenders.ts';
import { GRAPHQL_BENCH_SCENARIOS } from './bench/graphql/graphql-bench-scenarios.ts';
import {
  GRAPHQL_BENCH_TABLE_HEADER,
  judgeGraphqlBenchScenario,
  renderGraphqlBenchTableLines,
} from './bench/graphql/report.ts';
import { measureGraphqlBenchScenario } from './bench/graphql/rounds.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    scale: { type: 'string', default: '1' },
    only: { type: 'string' },
    contenders: { type: 'string' },
    profile: { type: 'string' },
  },
});
const options = {
  seconds: Number(values.seconds),
  rounds: Number(values.rounds),
  connections: Number(values.connections),
  scale: Number(values.scale),
};
const names = chosen(values.contenders, GRAPHQL_CONTENDER_NAMES);
const shapes = chosen(
  values.only,
  GRAPHQL_BENCH_SCENARIOS.map(({ name }) => name),
).flatMap((name) => GRAPHQL_BENCH_SCENARIOS.filter((shape) => shape.name === name));

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('bench');
try {
  await loadBenchData(database, options.scale);
  // The CPU time of parallel workers of PostgreSQL would be counted for no server.
  await database.query(`alter database "${database.name}" set max_parallel_workers_per_gather = 0`);
  const contenders = await startContenders(names, database, values.profile);
  try {
    await vacuumAndAnalyze(database);
    console.log(
      `${options.connections} connections, ${options.rounds} rounds of ${options.seconds} s each, scale ${options.scale}; medians`,
    );
    console.log(GRAPHQL_BENCH_TABLE_HEADER);
    const found: string[] = [];
    for (const shape of shapes) {
      const objections = await compareGraphqlAnswers(contenders.all, shape, options.scale);
      for (const [name, { text }] of objections) found.push(`${shape.name}: ${name} ${text}`);
      const able = contenders.all.filter(({ name }) => !objections.get(name)?.refused);
      const measured = await measureGraphqlBenchScenario(shape, able, options, database);
      for (const line of renderGraphqlBenchTableLines(shape, measured)) console.log(line);
      for (const { line, missed } of judgeGraphqlBenchScenario(shape, measured)) {
        console.log(`  ${line}`);
        if (missed) process.exitCode = 1;
      }
    }
    console.log('');
    if (found.length === 0) console.log('all answered the same rows and values');
    else process.exitCode = 1;
    for (const text of found) console.log(`not the same work: ${text}`);
  } finally {
    await contenders.stop();
  }
} finally {
  await database.drop();
  await server.stop();
}

/** The names in a list separated by semicolons; all names where there is no list. */
function chosen<Name extends string>(list: string | undefined, all: readonly Name[]): readonly Name[] {
  if (list === undefined) return all;
  const chosenNames = list.split(';').map((name) => name.trim());
  const unknown = chosenNames.filter((name) => !all.some((one) => one === name));
  if (unknown.length > 0) throw new Error(`there is no ${unknown.join(', ')}; there are: ${all.join('; ')}`);
  return all.filter((name) => chosenNames.includes(name));
}
