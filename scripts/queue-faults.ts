/**
 * `npm run faults:queue [-- --jobs 10000 --kills 200]`: three processes run jobs of one queue, while one of them after the other is
 * killed by SIGKILL at a random moment. Fails where a job is lost, where a job did its work twice although no kill explains it, and
 * where one is left over.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freshDatabase } from '../test/support/database.ts';
import { until } from '../test/support/until.ts';
import { startRestartablePostgres } from './faults/restartable-postgres.ts';
import { bootJobProcess } from './queue-faults/job-process.ts';

const { values } = parseArgs({
  options: { jobs: { type: 'string', default: '10000' }, kills: { type: 'string', default: '200' } },
});
const jobs = Number(values.jobs);
const kills = Number(values.kills);
const PROCESSES = 3;
/** Milliseconds between two kills, at most. */
const MAX_INTERVAL = 1200;
/** Milliseconds before and after the effect of a job, at most. */
const MAX_PAUSE = 30;
/** How long the last jobs may take: those of killed processes run again when their heartbeats are overdue. */
const END_LIMIT = 300_000;

interface Life {
  readonly name: string;
  readonly child: ChildProcess;
}

const server = await startRestartablePostgres();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('queue_faults');
await database.query(
  'create table effects (job uuid, number int, attempt int, life text, at timestamptz default now())',
);
const adder = await bootJobProcess(database.url, 'adder');
const program = new URL('queue-faults/job-process.ts', import.meta.url);
/** Killed processes leave their files here. */
const folder = await mkdtemp(join(tmpdir(), 'tenon-faults-'));
const killed = new Set<string>();
let lives = 0;

async function startLife(): Promise<Life> {
  const name = `life ${++lives}`;
  const child = fork(program, [database.url, name], {
    execArgv: process.execArgv,
    env: { ...process.env, TMPDIR: folder },
  });
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended with ${code} while it started`))),
  ]);
  return { name, child };
}

const counts = async () =>
  Object.fromEntries(
    (
      await database.query<{ state: string; count: number }>(
        `select state::text, count(*)::int from platform_queue.job where name = 'effects' group by state`,
      )
    ).map(({ state, count }) => [state, count]),
  );

const processes = await Promise.all(Array.from({ length: PROCESSES }, startLife));
const started = Date.now();
let added = 0;
async function addUntil(total: number): Promise<void> {
  while (added < total) {
    const number = added++;
    await adder.queue.add({ number, before: Math.random() * MAX_PAUSE, after: Math.random() * MAX_PAUSE });
  }
}
for (let kill = 1; kill <= kills; kill++) {
  const interval = Math.random() * MAX_INTERVAL;
  await Promise.all([addUntil(Math.ceil((jobs * kill) / kills)), pause(interval)]);
  const at = Math.floor(Math.random() * PROCESSES);
  const { name, child } = processes[at] as Life;
  killed.add(name);
  child.kill('SIGKILL');
  await once(child, 'exit');
  processes[at] = await startLife();
  if (kill % 20 === 0)
    console.log(
      `${((Date.now() - started) / 1000).toFixed(0).padStart(5)} s  ${kill} kills  ${JSON.stringify(await counts())}`,
    );
}
await until(async () => Object.keys(await counts()).every((state) => state === 'completed'), END_LIMIT).catch(() => {});
const ending = await counts();
for (const { child } of processes) child.kill('SIGTERM');
await adder.stop();

const effects = await database.query<{ number: number; lives: string[] }>(
  'select number, array_agg(life order by at) as lives from effects group by number',
);
const repeated = effects.filter((one) => one.lives.length > 1);
// All but the last effect of a job must be of a process that was killed before it could say that the job was done.
const unexplained = repeated.filter((one) => one.lives.slice(0, -1).some((life) => !killed.has(life)));
const runs = await database.query<{ runs: number }>(
  `select coalesce(sum(retry_count), 0)::int as runs from platform_queue.job where name = 'effects'`,
);
await database.drop();
await server.stop();
await rm(folder, { recursive: true, force: true });

console.log(
  `${added} jobs added, ${kills} kills, ${runs[0]?.runs} runs interrupted; at the end ${JSON.stringify(ending)}`,
);
console.log(
  `${effects.length} jobs did their work, ${repeated.length} of them twice: the kill fell between effect and commit`,
);
console.log(`${unexplained.length} repeated without a kill that explains it`);
const isLost = effects.length !== added || ending.completed !== added;
if (isLost) console.log('LOST: not every job is completed and has an effect');
process.exitCode = isLost || unexplained.length > 0 ? 1 : 0;
