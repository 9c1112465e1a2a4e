/**
 * `npm run faults [-- --kills 200 --restarts 10 --writers 6]`: two processes on one database. One of them is killed by SIGKILL again
 * and again, PostgreSQL is restarted, at every other time as after a loss of power, fields come and go, and clients write to both all
 * the while. Fails on an acknowledged write that is not there, on half a batch, on history that does not match its rows, and on an
 * answer that none of this explains.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type FreshDatabase, freshDatabase } from '../test/support/database.ts';
import { type SpawnedService, spawnService } from '../test/support/service.ts';
import { findWriteDiscrepancies } from './faults/lost-write-check.ts';
import { startRestartablePostgres } from './faults/restartable-postgres.ts';
import { startFaultTestWriters } from './faults/writers.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    restarts: { type: 'string', default: '10' },
    writers: { type: 'string', default: '6' },
  },
});
const kills = Number(values.kills);
const restarts = Number(values.restarts);
/** A process lives this long at most before it is killed, in milliseconds. */
const LIFE_MS = 800;
const SHOW_EVERY = 10;

const server = await startRestartablePostgres();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('faults');
let first: SpawnedService | undefined;
let second: SpawnedService | undefined;
try {
  first = await spawn(database);
  const { token } = first.admin;
  const created = await first.request('POST', '/collections', {
    token,
    body: {
      collection: 'thing',
      schema: {},
      fields: [
        { field: 'id', type: 'uuid', schema: { is_primary_key: true } },
        { field: 'n', type: 'integer' },
        { field: 'batch', type: 'string' },
      ],
    },
  });
  if (created.status !== 200) throw new Error(`the collection cannot be made: ${JSON.stringify(created.body)}`);
  second = await spawn(database);
  let addresses = [first.url, second.url];
  const writers = startFaultTestWriters({
    token,
    count: Number(values.writers),
    getAddress: (at) => addresses[at % 2] as string,
  });
  const started = Date.now();
  let refusedStarts = 0;
  for (let kill = 1; kill <= kills; kill++) {
    await pause(Math.random() * LIFE_MS);
    await second.kill('SIGKILL');
    const restarting = kill % Math.ceil(kills / restarts) === 0;
    if (restarting) await server.restart(server.restarts() % 2 === 0 ? 'as after a loss of power' : 'in order');
    await second.stop();
    second = undefined;
    // PostgreSQL may still be reading its log.
    while (!second) second = await spawn(database).catch(() => void refusedStarts++);
    addresses = [first.url, second.url];
    if (kill % SHOW_EVERY === 0) {
      const seconds = ((Date.now() - started) / 1000).toFixed(0);
      console.log(`${seconds.padStart(5)} s  ${kill} kills  ${writers.acknowledged()} writes acknowledged`);
    }
  }
  await writers.stop();
  const losses = await findWriteDiscrepancies(database, writers.record);
  const alive = await first.request('GET', '/items/thing?limit=1', { token });

  console.log(`${kills} kills, ${server.restarts()} restarts of PostgreSQL, ${refusedStarts} starts refused meanwhile`);
  console.log(`${writers.acknowledged()} writes acknowledged, ${writers.schemaChanges()} changes of the schema`);
  for (const [ending, count] of [...writers.endings()].sort()) console.log(`${String(count).padStart(8)} × ${ending}`);
  for (const loss of losses.slice(0, 20)) console.log(`LOST: ${loss}`);
  for (const text of writers.unexpected().slice(0, 20)) console.log(`UNEXPECTED: ${text}`);
  const isGood = losses.length === 0 && writers.unexpected().length === 0 && alive.status === 200;
  console.log(isGood ? 'nothing lost, no answer unexpected' : 'FAILED');
  process.exitCode = isGood ? 0 : 1;
} finally {
  await second?.stop();
  await first?.stop();
  await database.drop();
  await server.stop();
}

function spawn(database: FreshDatabase): Promise<SpawnedService> {
  return spawnService({ database, env: { LOG_LEVEL: 'error', ACCESS_TOKEN_TTL: '1d' } });
}
