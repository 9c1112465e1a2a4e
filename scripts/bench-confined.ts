/**
 * `npm run bench:confined [-- --seconds 2 --rounds 5 --connections 32]`: compares a confined endpoint with the same handler with
 * full authority, in one service and one run, in alternating rounds. Then measures what a call of the host costs, how long a
 * first call waits, and the memory of an idle extension. The service may have six processes, so that the extensions that are
 * called only once do not take the process of a helper. Compare ratios and differences; absolute numbers depend on the machine.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { childProcessIdsOf } from '../sandbox/host/launch/proc.ts';
import { freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { type SpawnedService, spawnService } from '../test/support/service.ts';
import { BENCH_HANDLER_NAMES, installBenchPackages, installConfinedEndpoint } from './bench/confined-handlers.ts';
import { buildRequestBytes, runLoad } from './bench/http-load-generator.ts';
import { readProportionalMemory } from './bench/process-cpu-memory.ts';
import { measureSerialLatency } from './bench/serial-latency.ts';

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
/** Calls of the host inside of one request of the handler `calls`. */
const CALLS = 10;
const MiB = 1024 ** 2;

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('bench');
const folder = await mkdtemp(join(tmpdir(), 'tenon-bench-'));
let service: SpawnedService | undefined;
try {
  await installBenchPackages(folder, CALLS);
  service = await spawnService({
    database,
    env: { EXTENSIONS_PATH: folder, EXTENSIONS_AUTO_RELOAD: 'true', EXTENSIONS_SANDBOX_MAX_PROCESSES: '6' },
  });
  const url = new URL(service.url);

  const starts = await firstCalls(url);
  const idle = await idleMemory(service.pid);
  const ask = (name: string) => () => buildRequestBytes(url, [], { method: 'GET', path: `/${name}` });
  const requests = new Map(BENCH_HANDLER_NAMES.map((name) => [name, ask(name)()]));
  const of = (name: string) => requests.get(name) as Buffer;
  const figures = new Map(
    BENCH_HANDLER_NAMES.map((name) => [name, { serial: [] as number[], rate: [] as number[], failed: 0 }]),
  );
  for (let round = 0; round <= rounds; round++) {
    for (const name of BENCH_HANDLER_NAMES) {
      const figure = figures.get(name);
      const latency = await measureSerialLatency(url, of(name), seconds / 2);
      const { requests: done, seconds: took, failed } = await runLoad(url, () => of(name), connections, seconds);
      // The first round warms everything up.
      if (!figure || round === 0) continue;
      figure.serial.push(latency);
      figure.rate.push(done / took);
      figure.failed += failed;
    }
  }
  const serialOf = (name: string) => median(figures.get(name)?.serial ?? []);
  const rateOf = (name: string) => median(figures.get(name)?.rate ?? []);

  console.log(`${rounds} rounds of ${seconds} s, ${connections} connections; medians`);
  console.log(`${'handler'.padEnd(24)}serial p50 ms   requests/s   failed`);
  for (const [name, { failed }] of figures) {
    const row = [serialOf(name).toFixed(3).padStart(13), rateOf(name).toFixed(0).padStart(13), `${failed}`.padStart(9)];
    console.log(name.padEnd(24) + row.join(''));
  }
  console.log('');
  const hostCall = (serialOf('calls') - serialOf('fresh') - (serialOf('work') - serialOf('full'))) / CALLS;
  const lines: [what: string, value: number, limit: number, unit: string, atMost: boolean][] = [
    ['fresh context: beyond in process, serial', serialOf('fresh') - serialOf('full'), 0.6, 'ms', true],
    ['fresh context: requests/s of in process', rateOf('fresh') / rateOf('full'), 0.25, '', false],
    ['reused context: beyond in process, serial', serialOf('reused') - serialOf('full'), 0.6, 'ms', true],
    ['reused context: requests/s of in process', rateOf('reused') / rateOf('full'), 0.6, '', false],
    ['one call of the host, beyond its work', hostCall, 0.3, 'ms', true],
    ['first call, from the spare', starts.spare, 30, 'ms', true],
    ['first call, cold', starts.cold, 200, 'ms', true],
    ['a package dropped into the folder', await dropped(url), 2000, 'ms', true],
    ['idle extension, proportional memory', idle, 20, 'MiB', true],
  ];
  let isGood = true;
  for (const [what, value, limit, unit, atMost] of lines) {
    const isWithin = atMost ? value <= limit : value >= limit;
    isGood &&= isWithin;
    const bound = `${atMost ? 'at most' : 'at least'} ${limit} ${unit}`;
    console.log(
      `${what.padEnd(44)}${value.toFixed(2).padStart(8)} ${unit.padEnd(4)} ${bound.padEnd(18)} ${isWithin ? 'held' : 'MISSED'}`,
    );
  }
  if ([...figures.values()].some(({ failed }) => failed > 0)) isGood = false;
  process.exitCode = isGood ? 0 : 1;
} finally {
  await service?.stop();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
  await server.stop();
}

/**
 * First calls of two extensions at the same moment: one gets the spare process, the other has to start one.
 * Medians over as many pairs as there are.
 */
async function firstCalls(url: URL): Promise<{ spare: number; cold: number }> {
  const spare: number[] = [];
  const cold: number[] = [];
  // The first answer of a service loads code of its own.
  await (await fetch(new URL('/full', url))).text();
  for (let pair = 0; pair < 3; pair++) {
    await pause(1500);
    const took = await Promise.all([first(url, `first${2 * pair}`), first(url, `first${2 * pair + 1}`)]);
    spare.push(Math.min(...took));
    cold.push(Math.max(...took));
  }
  return { spare: median(spare), cold: median(cold) };
}

async function first(url: URL, name: string): Promise<number> {
  const started = performance.now();
  const response = await fetch(new URL(`/${name}`, url));
  await response.text();
  if (response.status !== 200) throw new Error(`${name} answered ${response.status}`);
  return performance.now() - started;
}

/** Milliseconds from the copy of a package into the folder of the running service until its endpoint answers. */
async function dropped(url: URL): Promise<number> {
  const started = performance.now();
  await installConfinedEndpoint(folder, 'dropped');
  while ((await fetch(new URL('/dropped', url))).status !== 200) await pause(20);
  return performance.now() - started;
}

/**
 * MiB of the largest child of the service with its descendants; shared pages are divided by the number of processes that share
 * them.
 */
async function idleMemory(pid: number): Promise<number> {
  await pause(3000);
  return Math.max(0, ...childProcessIdsOf(pid).map(readProportionalMemory)) / MiB;
}

function median(all: readonly number[]): number {
  const sorted = [...all].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
