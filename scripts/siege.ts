/**
 * `npm run siege [-- --seconds 30 --logins 100 --bodies 1000 --packages 20 --readers 20]`: measures what
 * unauthenticated clients can do to a plain read, all at once: wrong logins, stalled bodies, public confined packages
 * that wait, and readers of a locked table. Fails where the read's 95th percentile more than doubles, or the service
 * and its processes grow by 200 MB and more.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { type SpawnedService, spawnService } from '../test/support/service.ts';
import { loadBenchData } from './bench/data.ts';
import { installHangingPackages } from './siege/hanging-packages.ts';
import type { HostileClientOptions, RequestOutcomeCounts } from './siege/hostile-load.ts';
import type { MemoryUse } from './siege/memory.ts';
import { createReadLatencyClient, p95 } from './siege/read-latency-client.ts';

const MAX_RATIO = 2;
const MAX_GROWTH_MB = 200;
const MB = 2 ** 20;
/** The default cost of hashing a password. Tests use less. */
const DEFAULT_HASHES = { HASH_MEMORY_COST: '65536', HASH_TIME_COST: '3', HASH_PARALLELISM: '4' };

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    logins: { type: 'string', default: '100' },
    bodies: { type: 'string', default: '1000' },
    packages: { type: 'string', default: '20' },
    readers: { type: 'string', default: '20' },
  },
});
const seconds = Number(values.seconds);

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('siege');
const folder = await mkdtemp(join(tmpdir(), 'tenon-siege-'));
let service: SpawnedService | undefined;
try {
  await loadBenchData(database, 0.02);
  const packages = await installHangingPackages(folder, Number(values.packages));
  service = await spawnService({
    database,
    env: { LOG_LEVEL: 'warn', ACCESS_TOKEN_TTL: '1d', EXTENSIONS_PATH: folder, ...DEFAULT_HASHES },
  });
  const { url, pid, admin } = service;
  const read = () => createReadLatencyClient(new URL('/items/article/1', url), admin.token);

  // The first request to a package starts its process, which does not belong to the measured load.
  await Promise.all(packages.map((name) => fetch(new URL(`/${name}`, url)).then((reply) => reply.text())));
  await read().readFor(1000);
  const baseline = await read().readFor((seconds * 1000) / 3);
  const watch = fork(new URL('siege/memory.ts', import.meta.url), [`${pid}`]);
  const memory = async () => {
    const reply = once(watch, 'message');
    watch.send('most');
    const [{ own, all }] = (await reply) as [MemoryUse];
    return { own: own / MB, all: all / MB };
  };
  const before = await memory();

  const lock = new pg.Client({ connectionString: database.url });
  await lock.connect();
  await lock.query('begin; lock table draft in access exclusive mode');
  const siege: HostileClientOptions = {
    url,
    token: admin.token,
    packages,
    logins: Number(values.logins),
    bodies: Number(values.bodies),
    readers: Number(values.readers),
  };
  const load = fork(new URL('siege/hostile-load.ts', import.meta.url), [JSON.stringify(siege)]);
  await once(load, 'message');
  const underLoad = await read().readFor(seconds * 1000);
  const most = await memory();
  watch.disconnect();
  const reply = once(load, 'message');
  load.send('end');
  const [endings] = (await reply) as [RequestOutcomeCounts];
  await lock.end();

  for (const [what, counts] of Object.entries(endings)) {
    const parts = Object.entries(counts).map(([ending, count]) => `${ending} × ${count}`);
    console.log(`${what.padEnd(16)}${parts.join(', ')}`);
  }
  const ratio = p95(underLoad.latencies) / p95(baseline.latencies);
  const growth = { own: most.own - before.own, all: most.all - before.all };
  console.log(
    `a plain read    p95 ${p95(baseline.latencies).toFixed(1)} ms baseline, ${p95(underLoad.latencies).toFixed(1)} ms under load, ratio ${ratio.toFixed(2)}; ${underLoad.latencies.length} reads, ${underLoad.failed} failed`,
  );
  console.log(
    `memory          service ${before.own.toFixed(0)} MB, grew by ${growth.own.toFixed(0)} MB; with its processes ${before.all.toFixed(0)} MB, grew by ${growth.all.toFixed(0)} MB`,
  );
  await pause(100);
  console.log(`log             ${(Buffer.byteLength(service.output()) / 1024).toFixed(0)} KiB at warn and above`);
  const isGood =
    ratio <= MAX_RATIO && underLoad.failed === 0 && growth.own <= MAX_GROWTH_MB && growth.all <= MAX_GROWTH_MB;
  console.log(isGood ? 'within bounds' : 'OUT OF BOUNDS');
  process.exitCode = isGood ? 0 : 1;
} finally {
  await service?.stop();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
  await server.stop();
}
