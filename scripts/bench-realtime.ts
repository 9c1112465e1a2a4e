/**
 * `npm run bench:realtime [-- --idle 5000 --subscribers 1000 --writes 200 --rounds 5 --seconds 3]`: memory of idle subscriptions beside a
 * bare server of the library `ws`; how long a write in one process takes to reach the subscribers of another one; deliveries a second
 * and processor time of each; and what realtime costs writes while it is off, on without subscribers, and on with one.
 * Absolute numbers depend on the machine.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type FreshDatabase, freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { type SpawnedService, spawnService } from '../test/support/service.ts';
import { until } from '../test/support/until.ts';
import { loadBenchData, vacuumAndAnalyze } from './bench/data.ts';
import { forkServer } from './bench/fork-server.ts';
import { buildRequestBytes, runLoad } from './bench/http-load-generator.ts';
import { percentile } from './bench/latencies.ts';
import { median } from './bench/load-figures.ts';
import { cpuByProcess, findServerProcesses, readProcessMemory } from './bench/process-cpu-memory.ts';
import { openSubscribers, SUBSCRIBE, socketUrl } from './bench-realtime/subscribers.ts';

const { values } = parseArgs({
  options: {
    idle: { type: 'string', default: '5000' },
    subscribers: { type: 'string', default: '1000' },
    writes: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
  },
});
const [idle, subscribers, writes, rounds, seconds] = [
  Number(values.idle),
  Number(values.subscribers),
  Number(values.writes),
  Number(values.rounds),
  Number(values.seconds),
];
/** Aims: kB for a connection beside a bare one, milliseconds at the median, and the part of a write. */
const AIMS = { memory: 15, latency: 200, idleCost: 1.02 };
const LIMITS = {
  WEBSOCKETS_CONN_LIMIT: '20000',
  WEBSOCKETS_ADDRESS_CONN_LIMIT: '20000',
  WEBSOCKETS_PUBLIC_CONN_LIMIT: '20000',
};
const ON = { WEBSOCKETS_ENABLED: 'true', WEBSOCKETS_REST_AUTH: 'strict', ...LIMITS };

/** Prints whether an aim is met, and fails the command where it is not. */
function check(isMet: boolean): string {
  if (!isMet) process.exitCode = 1;
  return isMet ? 'met' : 'MISSED';
}

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database: FreshDatabase = await freshDatabase('bench');
const services: SpawnedService[] = [];
const start = async (env: Readonly<Record<string, string>>): Promise<SpawnedService> => {
  const service = await spawnService({ database, env: { LOG_LEVEL: 'warn', ACCESS_TOKEN_TTL: '1d', ...env } });
  services.push(service);
  return service;
};

try {
  await loadBenchData(database, 0.1);
  const one = await start(ON);
  const other = await start(ON);
  await vacuumAndAnalyze(database);
  await measureMemory(other);
  await measureLatency(one, other);
  await measureThroughput(one, other);
  await measureWrites(one);
} finally {
  for (const service of services) await service.stop();
  await database.drop();
  await server.stop();
}

async function measureMemory(service: SpawnedService): Promise<void> {
  const url = socketUrl(service.url, service.admin.token);
  // The first connections load code and grow the heap.
  await (await openSubscribers(url, 100, SUBSCRIBE)).close();
  const perConnection = async (address: string, pid: number): Promise<number> => {
    const before = readProcessMemory(pid).own;
    const many = await openSubscribers(address, idle, SUBSCRIBE);
    await pause(2000);
    const held = (readProcessMemory(pid).own - before) / idle / 1000;
    await many.close();
    return held;
  };
  const own = await perConnection(url, service.pid);
  const bare = await forkServer(new URL('bench-realtime/bare-server.ts', import.meta.url), {});
  const address = bare.url.href.replace('http', 'ws');
  await (await openSubscribers(address, 100, SUBSCRIBE)).close();
  const least = await perConnection(address, bare.pid);
  await bare.stop();
  const more = own - least;
  console.log(
    `${idle} idle subscriptions: ${own.toFixed(1)} kB each, a bare connection ${least.toFixed(1)} kB: ${more.toFixed(1)} kB more (aim ${AIMS.memory}: ${check(more <= AIMS.memory)})`,
  );
}

/** Milliseconds from the beginning of a request that writes in one process to each delivery by the other one. */
async function measureLatency(one: SpawnedService, other: SpawnedService): Promise<void> {
  const many = await openSubscribers(socketUrl(other.url, one.admin.token), subscribers, SUBSCRIBE);
  const took: number[] = [];
  for (let at = 0; at < 20; at++) {
    many.reset();
    const from = performance.now();
    const own: number[] = [];
    many.onMessage((_text, arrived) => own.push(arrived - from));
    await write(one, 500);
    await until(() => many.received() >= subscribers);
    if (at > 2) took.push(...own);
  }
  await many.close();
  console.log(
    `a write reaches ${subscribers} subscribers of another process: median ${median(took).toFixed(0)} ms (aim ${AIMS.latency}: ${check(median(took) <= AIMS.latency)}), 95 % ${percentile(took, 0.95).toFixed(0)} ms, last ${Math.max(...took).toFixed(0)} ms`,
  );
}

async function measureThroughput(one: SpawnedService, other: SpawnedService): Promise<void> {
  const many = await openSubscribers(socketUrl(other.url, one.admin.token), subscribers, SUBSCRIBE);
  let last = '';
  many.onMessage((text) => {
    last = text;
  });
  const before = cpuByProcess([other.pid]).get(other.pid) ?? 0;
  const from = performance.now();
  for (let at = 0; at < writes; at++) await write(one, 500 + (at % 50));
  await write(one, 500, 'the last one');
  await until(() => last.includes('the last one'));
  await pause(200);
  const took = (performance.now() - from) / 1000;
  const cpu = (cpuByProcess([other.pid]).get(other.pid) ?? 0) - before;
  const deliveries = many.received();
  await many.close();
  console.log(
    `${writes} writes one after the other, ${subscribers} subscribers: ${Math.round(deliveries / took)} deliveries a second, ${((cpu * 1000) / deliveries).toFixed(1)} µs of processor time each`,
  );
}

async function write(service: SpawnedService, id: number, title = `t${Math.random()}`): Promise<void> {
  const { status } = await service.request('PATCH', `/items/article/${id}`, {
    token: service.admin.token,
    body: { title },
  });
  if (status !== 200) throw new Error(`a write was answered ${status}`);
}

/** Requests that write, by a service with realtime off, on, and on with one subscriber, in alternating rounds. */
async function measureWrites(subscribed: SpawnedService): Promise<void> {
  const contenders = [
    ['off', await start({})],
    ['on, no subscribers', await start(ON)],
    ['on, one subscriber', subscribed],
  ] as const;
  const cpu = new Map<string, number[]>();
  for (let round = 0; round <= rounds; round++) {
    for (const [name, service] of contenders) {
      const client = name === 'on, one subscriber' ? await subscribeOnce(service) : undefined;
      const cost = await costOfWrites(service);
      await client?.close();
      // Triggers stay for a minute after the last subscription: the other contenders have to be without them.
      if (client) await removeTriggers();
      if (round > 0) cpu.set(name, [...(cpu.get(name) ?? []), cost]);
    }
  }
  const base = median(cpu.get('off') ?? []);
  for (const [name, costs] of cpu) {
    const own = median(costs);
    const aim = name === 'on, no subscribers' ? ` (aim ${AIMS.idleCost}: ${check(own / base <= AIMS.idleCost)})` : '';
    console.log(
      `updates, realtime ${name}: ${own.toFixed(3)} ms of processor time, ${(own / base).toFixed(3)} times${aim}`,
    );
  }
}

function subscribeOnce(service: SpawnedService) {
  return openSubscribers(socketUrl(service.url, service.admin.token), 1, SUBSCRIBE);
}

async function removeTriggers(): Promise<void> {
  for (const verb of ['insert', 'update', 'delete', 'truncate'])
    await database.query(`drop trigger if exists platform_row_feed_${verb} on article`);
}

async function costOfWrites(service: SpawnedService): Promise<number> {
  const url = new URL(service.url);
  let at = 0;
  const next = () =>
    buildRequestBytes(url, [`Authorization: Bearer ${service.admin.token}`], {
      method: 'PATCH',
      path: `/items/article/${1 + (++at % 400)}`,
      body: { title: `t${at}` },
    });
  const { backends } = await findServerProcesses(service.pid, 'tenon', database);
  const pids = [service.pid, ...backends];
  const before = cpuByProcess(pids);
  const load = await runLoad(url, next, 8, seconds);
  const spent = [...cpuByProcess(pids)].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);
  if (load.failed > 0) throw new Error(`${load.failed} writes failed`);
  return spent / load.requests;
}
