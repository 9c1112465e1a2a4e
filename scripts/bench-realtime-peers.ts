/**
 * `npm run bench:realtime-peers [-- --subscribers 200 --writes 100 --rounds 3 --scale 0.1]`: compares the service's GraphQL subscriptions
 * with those of PostGraphile, on the same rows of one database and with the same protocol, in alternating rounds of one run. Each write
 * changes one row by SQL and waits until all subscribers have it. Compare ratios; absolute numbers depend on the machine.
 */
import { parseArgs } from 'node:util';
import { type FreshDatabase, freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { loadBenchData, scaledRowCount, vacuumAndAnalyze } from './bench/data.ts';
import { cpuByProcess, findServerProcesses } from './bench/process-cpu-memory.ts';
import { type SubscriptionContender, startSubscriptionContenders } from './bench/realtime-peers/contenders.ts';
import { openSubscribers } from './bench/realtime-peers/subscribers.ts';

const { values } = parseArgs({
  options: {
    subscribers: { type: 'string', default: '200' },
    writes: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '3' },
    scale: { type: 'string', default: '0.1' },
  },
});
const subscribers = Number(values.subscribers);
const writes = Number(values.writes);
const rounds = Number(values.rounds);
const scale = Number(values.scale);

interface Round {
  readonly deliveriesPerSecond: number;
  /** Microseconds of CPU time for each delivery. */
  readonly serverCpu: number;
  readonly databaseCpu: number;
  /** Milliseconds from the write to the last subscriber. */
  readonly delay: number;
}

const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;

/** One round of writes to all subscribers of one server. */
async function measureRound(contender: SubscriptionContender, database: FreshDatabase): Promise<Round> {
  const { url, init, query, pid, application, setUp, tearDown } = contender;
  if (setUp) await database.query(setUp);
  const open = await openSubscribers({ url, init, query, count: subscribers });
  const rows = scaledRowCount('article', scale);
  let write = 0;
  const change = () =>
    database.query('update article set views = views + 1 where id = $1', [1 + ((write++ * 7919) % rows)]);
  try {
    await open.warmUp(change);
    for (let at = 0; at < 10; at++) await open.measureDelivery(change);
    const processes = await findServerProcesses(pid, application, database);
    const pids = [processes.server, ...processes.backends];
    const before = cpuByProcess(pids);
    const started = performance.now();
    const delays: number[] = [];
    for (let at = 0; at < writes; at++) delays.push(await open.measureDelivery(change));
    const seconds = (performance.now() - started) / 1000;
    const after = cpuByProcess(pids);
    const deliveries = writes * subscribers;
    const spent = (some: readonly number[]) =>
      (1000 * some.reduce((sum, one) => sum + (after.get(one) ?? 0) - (before.get(one) ?? 0), 0)) / deliveries;
    return {
      deliveriesPerSecond: deliveries / seconds,
      serverCpu: spent([processes.server]),
      databaseCpu: spent(processes.backends),
      delay: median(delays),
    };
  } finally {
    open.close();
    if (tearDown) await database.query(tearDown);
  }
}

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('bench');
try {
  await loadBenchData(database, scale);
  const contenders = await startSubscriptionContenders(database);
  try {
    await vacuumAndAnalyze(database);
    console.log(`${subscribers} subscribers, ${rounds} rounds of ${writes} writes each; medians`);
    const found = new Map<string, Round[]>(contenders.all.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      for (const contender of contenders.all) found.get(contender.name)?.push(await measureRound(contender, database));
    }
    console.log('| | deliveries a second | µs of CPU a delivery | of these the database | ms to the last subscriber |');
    console.log('|---|---|---|---|---|');
    for (const [name, all] of found) {
      const of = (pick: (one: Round) => number) => median(all.map(pick));
      const cpu = of((one) => one.serverCpu + one.databaseCpu);
      const cells = [of((one) => one.deliveriesPerSecond).toFixed(0), cpu.toFixed(1)];
      console.log(
        `| ${name} | ${[...cells, of((one) => one.databaseCpu).toFixed(1), of((one) => one.delay).toFixed(1)].join(' | ')} |`,
      );
    }
  } finally {
    await contenders.stop();
  }
} finally {
  await database.drop();
  await server.stop();
}
