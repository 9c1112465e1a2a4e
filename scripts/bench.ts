/**
 * `npm run bench [-- --seconds 2 --rounds 3 --connections 32 --scale 1 --only "read one,create one"]`: compares the service with
 * a hand-written server that runs the ideal statement, on generated rows, in alternating rounds of one run. Compare ratios;
 * absolute numbers depend on the machine. `--shapes false`, `--bare false`, `--memory false` and `--young false` leave out parts,
 * `--bare "read one;list 25"` picks shapes of that part, `--scale 0.1` is for a quick look, `--profile <folder>` writes CPU
 * profiles.
 */
import { parseArgs } from 'node:util';
import { freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { compareWithBareServer } from './bench/bare/report.ts';
import { BENCH_SCENARIOS, type BenchScenario } from './bench/bench-scenarios.ts';
import { type AnswerDifference, compareAnswers } from './bench/compare-answers.ts';
import { startBenchServers } from './bench/compared-servers.ts';
import { fillHistory, loadBenchData, vacuumAndAnalyze } from './bench/data.ts';
import { reportLargeReadMemory } from './bench/memory.ts';
import { benchTableHeader, judgeBenchScenarios, renderBenchTableLine } from './bench/report.ts';
import { type LoadFiguresByServer, measureInRounds } from './bench/rounds.ts';
import { reportYoungDatabaseWrites } from './bench/young-database.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    scale: { type: 'string', default: '1' },
    only: { type: 'string' },
    profile: { type: 'string' },
    memory: { type: 'string', default: 'true' },
    young: { type: 'string', default: 'true' },
    bare: { type: 'string', default: 'true' },
    shapes: { type: 'string', default: 'true' },
  },
});
const options = {
  seconds: Number(values.seconds),
  rounds: Number(values.rounds),
  connections: Number(values.connections),
  scale: Number(values.scale),
};

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('bench');
try {
  await loadBenchData(database, options.scale);
  // The CPU time of parallel workers of PostgreSQL would be counted for no server.
  await database.query(`alter database "${database.name}" set max_parallel_workers_per_gather = 0`);
  const sides = await startBenchServers(database, values.profile);
  try {
    const chosenShapes = values.shapes === 'false' ? [] : chosen(values.only);
    await fillHistory(database);
    await vacuumAndAnalyze(database);
    const objections = new Map<BenchScenario, AnswerDifference>();
    for (const shape of chosenShapes) {
      const objection = await compareAnswers(sides, shape, options.scale, database);
      if (objection !== undefined) objections.set(shape, objection);
    }
    for (const [{ name }, objection] of objections) console.log(`${name}: ${objection.text}`);

    if (chosenShapes.length > 0) {
      console.log(
        `${options.connections} connections, ${options.rounds} rounds of ${options.seconds} s each, scale ${options.scale}; medians`,
      );
      console.log(benchTableHeader('ideal'));
    }
    const measured = new Map<BenchScenario, LoadFiguresByServer>();
    for (const shapes of groups(chosenShapes.filter((shape) => !objections.get(shape)?.refused))) {
      for (const [shape, figures] of await measureInRounds(shapes, sides, options, database)) {
        measured.set(shape, figures);
        console.log(renderBenchTableLine(shape, figures) + (objections.has(shape) ? '  not the same work' : ''));
      }
    }
    console.log('');
    for (const one of judgeBenchScenarios(measured)) console.log(one);
    if (values.bare !== 'false') {
      console.log('');
      const names = values.bare === 'true' ? undefined : values.bare.split(';').map((name) => name.trim());
      for await (const one of compareWithBareServer(sides, options, database, { names, profile: values.profile }))
        console.log(one);
    }
    if (values.memory !== 'false') {
      console.log('');
      for await (const one of reportLargeReadMemory(sides.service, BENCH_SCENARIOS[0] as BenchScenario, database))
        console.log(one);
    }
    process.exitCode = objections.size > 0 ? 1 : 0;
  } finally {
    await sides.stop();
  }
  if (values.young !== 'false') console.log(`\n${await reportYoungDatabaseWrites()}`);
} finally {
  await database.drop();
  await server.stop();
}

function chosen(only: string | undefined): readonly BenchScenario[] {
  if (only === undefined) return BENCH_SCENARIOS;
  const names = only.split(';').flatMap((part) => {
    const whole = BENCH_SCENARIOS.find(({ name }) => name === part.trim());
    return whole ? [whole.name] : part.split(',').map((name) => name.trim());
  });
  const unknown = names.filter((name) => !BENCH_SCENARIOS.some((shape) => shape.name === name));
  if (unknown.length > 0)
    throw new Error(
      `no shape is called ${unknown.join(', ')}; there are:\n${BENCH_SCENARIOS.map((one) => one.name).join('\n')}`,
    );
  return BENCH_SCENARIOS.filter(({ name }) => names.includes(name));
}

/** Groups each shape with the shapes that are compared with it, so that they are measured in the same rounds. */
function groups(shapes: readonly BenchScenario[]): readonly (readonly BenchScenario[])[] {
  const leaders = shapes.filter(({ like }) => !shapes.some(({ name }) => name === like));
  return leaders.map((leader) => [leader, ...shapes.filter(({ like }) => like === leader.name)]);
}
