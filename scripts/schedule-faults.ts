/**
 * `npm run faults:schedule [-- --ticks 500 --kill-every 5]`: three processes with one clock, which this script moves from tick to tick.
 * All three see each tick at the same time; at every fifth one the process that runs it is killed before its work is done. Fails
 * where a tick has not exactly one run.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freshDatabase } from '../test/support/database.ts';
import { startRestartablePostgres } from './faults/restartable-postgres.ts';
import { type ProcessMessage, TICK_INTERVAL } from './schedule-faults/ticking-process.ts';

const { values } = parseArgs({
  options: { ticks: { type: 'string', default: '500' }, 'kill-every': { type: 'string', default: '5' } },
});
const ticks = Number(values.ticks);
const killEvery = Number(values['kill-every']);
const PROCESSES = 3;
/** Milliseconds within which a process begins or ends a run; a further one is looked for after ten seconds at most. */
const LIMIT = 120_000;

const server = await startRestartablePostgres();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('schedule_faults');
await database.query('create table runs (tick timestamptz)');
const program = new URL('schedule-faults/ticking-process.ts', import.meta.url);
/** Killed processes leave their files here. */
const folder = await mkdtemp(join(tmpdir(), 'tenon-faults-'));
const processes = new Set<ChildProcess>();
const waiting = new Map<string, (child: ChildProcess) => void>();
let now = Math.ceil(Date.now() / TICK_INTERVAL) * TICK_INTERVAL;

async function startProcess(): Promise<void> {
  const child = fork(program, [database.url, String(now)], {
    execArgv: process.execArgv,
    env: { ...process.env, TMPDIR: folder },
  });
  const ready = Promise.withResolvers<void>();
  child.on('message', (message: ProcessMessage) => {
    if (message === 'ready') return ready.resolve();
    const [[what, tick]] = Object.entries(message) as [[string, number]];
    waiting.get(`${what} ${tick}`)?.(child);
  });
  child.on('exit', () => ready.reject(new Error('a process ended while it started')));
  await ready.promise;
  child.send({ now });
  processes.add(child);
}

/** Resolves with the process that says so. */
function waitFor(what: 'began' | 'done', tick: number): Promise<ChildProcess> {
  const { promise, resolve, reject } = Promise.withResolvers<ChildProcess>();
  const timer = setTimeout(() => reject(new Error(`no process has ${what} the tick ${tick}`)), LIMIT);
  waiting.set(`${what} ${tick}`, (child) => {
    clearTimeout(timer);
    resolve(child);
  });
  return promise;
}

for (let count = 0; count < PROCESSES; count++) await startProcess();
const started = performance.now();
let kills = 0;
for (let number = 1; number <= ticks; number++) {
  now += TICK_INTERVAL;
  let began = waitFor('began', now);
  for (const child of processes) child.send({ now });
  let winner = await began;
  if (number % killEvery === 0) {
    began = waitFor('began', now);
    winner.kill('SIGKILL');
    processes.delete(winner);
    await once(winner, 'exit');
    kills++;
    winner = await began;
  }
  const done = waitFor('done', now);
  winner.send({ go: now });
  await done;
  while (processes.size < PROCESSES) await startProcess();
  if (number % 50 === 0)
    console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s  ${number} ticks`);
}
for (const child of processes) child.disconnect();
await Promise.all([...processes].map((child) => once(child, 'exit')));
const rows = await database.query<{ runs: number; ticks: number }>(
  'select runs::int, count(*)::int as ticks from (select count(*) as runs from runs group by tick) t group by runs order by runs',
);
await database.drop();
await server.stop();
await rm(folder, { recursive: true, force: true });
for (const row of rows) console.log(`${row.ticks} ticks with ${row.runs} run`);
console.log(`${kills} processes were killed while they ran a tick`);
process.exitCode = rows.length === 1 && rows[0]?.runs === 1 && rows[0].ticks === ticks ? 0 : 1;
