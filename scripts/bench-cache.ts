/**
 * `npm run bench:cache [-- --seconds 2 --rounds 5 --connections 32]`: compares reads from the response cache with the same reads of a
 * service whose cache is off, on one database, in alternating rounds of one run. Compare ratios; absolute numbers depend on the
 * machine.
 */
import { parseArgs } from 'node:util';
import { freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { type SpawnedService, spawnService } from '../test/support/service.ts';
import { until } from '../test/support/until.ts';
import { loadBenchData, vacuumAndAnalyze } from './bench/data.ts';
import { buildRequestBytes, runLoad } from './bench/http-load-generator.ts';
import { cpuByProcess, findServerProcesses } from './bench/process-cpu-memory.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const connections = Number(values.connections);
const STATUS = 'x-cache-status';
/** `aim`: how many times the requests per second of the uncached read the cached one has to reach. */
const SCENARIOS = [
  { name: 'read one', path: '/items/article/500', aim: 1.5 },
  { name: 'list 25', path: '/items/article?limit=25&sort=-id', aim: 2.5 },
  {
    name: 'list 25 with author and comments',
    path: '/items/article?limit=25&fields=id,title,author_id.name,comments.*',
    aim: 2,
  },
  {
    name: 'list 25, GraphQL',
    path: `/graphql?query=${encodeURIComponent('{ article(limit: 25) { id title author_id { name } } }')}`,
    aim: 2,
  },
] as const;

interface Figures {
  readonly rates: number[];
  readonly cpu: number[];
  failed: number;
}

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('bench');
const services: SpawnedService[] = [];
try {
  await loadBenchData(database, 1);
  const start = async (env: Readonly<Record<string, string>>): Promise<SpawnedService> => {
    const service = await spawnService({
      database,
      env: { LOG_LEVEL: 'warn', ACCESS_TOKEN_TTL: '1d', QUERY_SLOW_MS: '0', ...env },
    });
    services.push(service);
    return service;
  };
  const contenders = [
    ['uncached', await start({})],
    ['cached', await start({ CACHE_ENABLED: 'true', CACHE_STATUS_HEADER: STATUS })],
  ] as const;
  await vacuumAndAnalyze(database);
  console.log(`${rounds} rounds of ${seconds} s, ${connections} connections; medians`);
  console.log(
    `${'read'.padEnd(36)}${'requests/s'.padStart(12)}${'cached'.padStart(10)}${'times'.padStart(8)}   CPU ms a request`,
  );
  for (const { name, path, aim } of SCENARIOS) {
    const figures: Record<string, Figures> = {};
    const token = contenders[0][1].admin.token;
    const cached = contenders[1][1];
    await until(async () => (await cached.request('GET', path, { token })).headers.get(STATUS) === 'HIT');
    for (let round = 0; round <= rounds; round++) {
      for (const [contender, service] of contenders) {
        const url = new URL(service.url);
        const bytes = buildRequestBytes(url, [`Authorization: Bearer ${token}`], { method: 'GET', path });
        const { backends } = await findServerProcesses(service.pid, 'tenon', database);
        const pids = contender === 'uncached' ? [service.pid, ...backends] : [service.pid];
        const before = cpuByProcess(pids);
        const load = await runLoad(url, () => bytes, connections, seconds);
        const spent = [...cpuByProcess(pids)].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);
        figures[contender] ??= { rates: [], cpu: [], failed: 0 };
        const own = figures[contender];
        own.failed += load.failed;
        // The first round warms everything up.
        if (round === 0) continue;
        own.rates.push(load.requests / load.seconds);
        own.cpu.push(spent / load.requests);
      }
    }
    const { uncached, cached: fast } = figures as Record<'uncached' | 'cached', Figures>;
    const times = median(fast.rates) / median(uncached.rates);
    const isReached = times >= aim && fast.failed + uncached.failed === 0;
    if (!isReached) process.exitCode = 1;
    console.log(
      `${name.padEnd(36)}${median(uncached.rates).toFixed(0).padStart(12)}${median(fast.rates).toFixed(0).padStart(10)}${times.toFixed(1).padStart(8)}   ${median(uncached.cpu).toFixed(3)} → ${median(fast.cpu).toFixed(3)}${isReached ? '' : `   MISSED: at least ${aim} times`}`,
    );
  }
} finally {
  await Promise.all(services.map((one) => one.stop()));
  await database.drop();
  await server.stop();
}

function median(all: readonly number[]): number {
  const sorted = [...all].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
