/**
 * `npm run faults:upgrade [-- --rate 200 --seconds 5]`: two processes of one version are replaced by two of the next one, which has a
 * migration, while clients send requests all the time. Fails on a request that was not answered as it should be, and on an
 * acknowledged write that is not there. Then: a version whose migration older ones do not survive is refused while they run, and an
 * older version is refused after it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type FreshDatabase, freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { findFreePort } from '../test/support/free-port.ts';
import { adminToken, FIRST_ADMIN_CREDENTIALS, HEAP_FLAGS, TEST_SECRET } from '../test/support/service.ts';
import { buildPackage } from './pack/build-package.ts';
import { PACKAGE_FOLDER } from './pack/folders.ts';
import { createTrialVersion } from './pack/next-version.ts';
import { createBalancer } from './upgrade/balancer.ts';
import { type LoadFigures, startSteadyLoad } from './upgrade/steady-load.ts';
import {
  captureRefusedStart,
  startTrialProcess,
  type TrialProcess,
  type TrialProcessOptions,
} from './upgrade/trial-process.ts';

const { values } = parseArgs({
  options: { rate: { type: 'string', default: '200' }, seconds: { type: 'string', default: '5' } },
});
const rate = Number(values.rate);
/** Milliseconds between two steps. */
const step = Number(values.seconds) * 1000;

/** A version that only adds: processes of the version before go on. */
const EXTENDING = {
  id: 'trial-note',
  worksSince: '0.1.0',
  statements: ['alter table $table add column note text', 'update $table set note = name'],
};
/** A version that takes away: no older process may run. */
const REMOVING = { id: 'trial-note-removed', statements: ['alter table $table drop column note'] };

const old = await buildPackage();
const versions = {
  [old.version]: PACKAGE_FOLDER,
  '0.2.0': createTrialVersion({ version: '0.2.0', migrations: [EXTENDING] }),
  '0.3.0': createTrialVersion({ version: '0.3.0', migrations: [EXTENDING, REMOVING] }),
};

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('rolling');
const data = await mkdtemp(join(tmpdir(), 'tenon-rolling-'));
const running: TrialProcess[] = [];
const problems: string[] = [];
try {
  const figures = await upgradeUnderLoad();
  await assertNothingLost(figures, database);
  printFigures(figures);
} finally {
  for (const one of running) await one.stop();
  await database.drop();
  await server.stop();
  await rm(data, { recursive: true, force: true });
}
for (const text of problems.slice(0, 20)) console.log(`FAILED: ${text}`);
if (problems.length > 0) process.exitCode = 1;
else console.log('no request failed, and nothing was lost');

async function upgradeUnderLoad(): Promise<LoadFigures> {
  const before = [await start(old.version), await start(old.version)];
  const token = (await adminToken(database)) as string;
  const balancer = createBalancer({ Authorization: `Bearer ${token}` });
  for (const one of before) balancer.add(one.port);
  const fields = [
    { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
    { field: 'text', type: 'string' },
  ];
  const created = await balancer.send(
    'POST',
    '/collections',
    JSON.stringify({ collection: 'upgrade_note', schema: {}, fields }),
  );
  if (created.status !== 200) throw new Error(`the collection cannot be made: ${created.body}`);

  const load = startSteadyLoad(balancer, rate);
  await pause(step);
  for (const one of before) {
    const next = await start('0.2.0');
    balancer.add(next.port);
    await pause(step);
    await stop(one);
    await pause(step);
    // A process of the version before that is restarted in the middle of an upgrade, as after a crash.
    if (one === before[0]) await stop(await start(old.version));
  }
  await refuse('0.3.0', 'still run');
  await pause(step);
  const figures = await load.stop();
  console.log(
    `${balancer.passedOn()} requests were passed on, since a process that stopped took no connection any more`,
  );
  for (const one of [...running]) await stop(one);
  await stop(await start('0.3.0'));
  await refuse('0.2.0', 'a newer version (0.3.0)');
  return figures;
}

async function start(version: string): Promise<TrialProcess> {
  const started = await startTrialProcess(await optionsOf(version));
  running.push(started);
  console.log(
    `${new Date().toISOString().slice(11, 23)} ${version} started on port ${started.port} in ${seconds(started.startTime)}`,
  );
  return started;
}

async function stop(one: TrialProcess): Promise<void> {
  running.splice(running.indexOf(one), 1);
  const { code, time } = await one.stop();
  console.log(
    `${new Date().toISOString().slice(11, 23)} ${one.version} stopped on port ${one.port} in ${seconds(time)}`,
  );
  if (code !== 0) problems.push(`version ${one.version} ended with ${code}:\n${one.output()}`);
}

async function refuse(version: string, reason: string): Promise<void> {
  const output = await captureRefusedStart(await optionsOf(version));
  console.log(`${version} refused to start:\n${output.trim().replace(/^/gm, '    ')}`);
  if (!output.includes(reason)) problems.push(`version ${version} did not say "${reason}"`);
}

async function optionsOf(version: string): Promise<TrialProcessOptions> {
  const folder = versions[version] as string;
  return {
    version,
    command: [process.execPath, ...HEAP_FLAGS, join(folder, 'scripts/cli.js'), 'start'],
    cwd: data,
    port: await findFreePort(),
    environment: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PUBLIC_URL: 'http://127.0.0.1:8055',
      LOG_LEVEL: 'warn',
      DATA_PATH: data,
      DB_CONNECTION_STRING: database.url,
      SECRET: TEST_SECRET,
      ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
      ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
    },
  };
}

/** Compares the acknowledged items with those in the database. */
async function assertNothingLost({ items, failures }: LoadFigures, { query }: FreshDatabase): Promise<void> {
  problems.push(...failures);
  const rows = await query<{ id: number; text: string }>('select id, text from upgrade_note');
  const stored = new Map(rows.map(({ id, text }) => [id, text]));
  for (const [id, text] of items)
    if (stored.get(id) !== text) problems.push(`item ${id} is ${stored.get(id)} instead of ${text}`);
}

function printFigures({ sent, failures, times, items }: LoadFigures): void {
  const at = (share: number) => `${(times[Math.floor((times.length - 1) * share)] as number).toFixed(1)} ms`;
  console.log(`${sent} requests at ${rate} a second, ${failures.length} failed; ${items.size} items compared`);
  console.log(`times: half below ${at(0.5)}, 99 % below ${at(0.99)}, longest ${at(1)}`);
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
