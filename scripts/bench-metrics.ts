/**
 * `npm run bench:metrics [-- --seconds 2 --rounds 7 --connections 32 --base <folder>]`: what metrics and traces cost a request, as
 * processor time of the service and its database backends beside that of a service without them, on one database, in alternating
 * rounds of one run. `--base` adds another checkout of the service, whose metrics are off as well; `--traces false` leaves out traces.
 * Compare ratios; absolute numbers depend on the machine.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { startOtlpReceiver } from '../test/support/otlp-receiver.ts';
import { type SpawnedService, spawnService } from '../test/support/service.ts';
import { loadBenchData, vacuumAndAnalyze } from './bench/data.ts';
import { buildRequestBytes, runLoad } from './bench/http-load-generator.ts';
import { measureObservationCost } from './bench/observation-cost.ts';
import { cpuByProcess, findServerProcesses } from './bench/process-cpu-memory.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '7' },
    connections: { type: 'string', default: '32' },
    base: { type: 'string' },
    traces: { type: 'string', default: 'true' },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const connections = Number(values.connections);

const ONE_OF_A_HUNDRED = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' };
/** Part by which metrics may make a request dearer. */
const AIM = 0.03;

const SCENARIOS = [
  { name: 'read one', method: 'GET', path: '/items/article/500' },
  { name: 'list 25', method: 'GET', path: '/items/article?limit=25&sort=-id' },
  { name: 'create one', method: 'POST', path: '/items/note', body: { title: 'a title' } },
] as const;

const receiver = await startOtlpReceiver();
const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('bench');
const services: SpawnedService[] = [];
try {
  await loadBenchData(database, 1);
  const start = async (env: Readonly<Record<string, string>>, checkout?: string): Promise<SpawnedService> => {
    const service = await spawnService({
      database,
      ...(checkout === undefined ? {} : { checkout: resolve(checkout) }),
      env: { LOG_LEVEL: 'warn', ACCESS_TOKEN_TTL: '1d', QUERY_SLOW_MS: '0', ...env },
    });
    services.push(service);
    return service;
  };
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
  const contenders = [
    ['off', await start({})],
    ...(values.base === undefined ? [] : [['base', await start({}, values.base)] as const]),
    ['metrics', await start({ METRICS_ENABLED: 'true' })],
    ...(values.traces === 'false'
      ? []
      : [
          ['traces 1 %', await start({ ...traced, ...ONE_OF_A_HUNDRED })] as const,
          ['traces', await start(traced)] as const,
        ]),
  ] as const;
  await vacuumAndAnalyze(database);
  console.log(
    `${rounds} rounds of ${seconds} s, ${connections} connections; lower quartile of the CPU ms a request, and its ratio to "off"`,
  );
  const cost = await measureObservationCost();
  console.log(
    `metrics by themselves: ${cost.request.toFixed(2)} µs a request, ${cost.statement.toFixed(2)} µs a statement`,
  );
  console.log(`${'request'.padEnd(12)}${contenders.map(([name]) => name.padStart(20)).join('')}`);
  const token = contenders[0][1].admin.token;
  for (const scenario of SCENARIOS) {
    const rows: Record<string, number>[] = [];
    let failed = 0;
    for (let round = 0; round <= rounds; round++) {
      const row: Record<string, number> = {};
      for (const [name, service] of shuffle(contenders)) {
        const url = new URL(service.url);
        const bytes = buildRequestBytes(url, [`Authorization: Bearer ${token}`], scenario);
        const processes = await findServerProcesses(service.pid, 'tenon', database);
        const pids = [service.pid, ...processes.backends];
        const before = cpuByProcess(pids);
        const load = await runLoad(url, () => bytes, connections, seconds);
        const spent = [...cpuByProcess(pids)].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);
        failed += load.failed;
        row[name] = spent / load.requests;
      }
      // The first round warms everything up.
      if (round > 0) rows.push(row);
    }
    const costOf = (name: string) => lowerQuartile(rows.map((row) => row[name] ?? 0));
    const off = costOf('off');
    const cells = contenders.map(([name]) => {
      const milliseconds = costOf(name).toFixed(4);
      return `${milliseconds} (${(costOf(name) / off).toFixed(3)})`.padStart(20);
    });
    const share = costOf('metrics') / off - 1;
    const problem =
      failed > 0 ? `   ${failed} requests failed` : share > AIM ? `   MISSED: metrics at most ${AIM * 100} %` : '';
    if (problem !== '') process.exitCode = 1;
    console.log(`${scenario.name.padEnd(12)}${cells.join('')}${problem}`);
  }
} finally {
  await Promise.all(services.map((one) => one.stop()));
  await database.drop();
  await server.stop();
  await receiver.stop();
}

/** In another order each time, so that none always follows the same one, whose last exports may still run. */
function shuffle<T>(all: readonly T[]): readonly T[] {
  const places = all.map((one) => ({ one, at: Math.random() }));
  return places.sort((a, b) => a.at - b.at).map(({ one }) => one);
}

/** Other work of the machine makes rounds dearer and never cheaper. */
function lowerQuartile(all: readonly number[]): number {
  const sorted = [...all].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 4)] ?? Number.NaN;
}
