/**
 * `npm run faults:backup [-- --rounds 6 --seconds 8 --writers 6]`: backups of two processes under writes, each restored into an empty database
 * and folder. Fails where rows and bytes do not agree with each other or with the moment of the backup, where a backup that was killed
 * or interrupted leaves an archive, where requests fail, and where objects are left that no row names. It takes the PostgreSQL of the machine,
 * whose pg_dump is of its version.
 */
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type FreshDatabase, freshDatabase } from '../test/support/database.ts';
import { type CliProcess, runCli, type SpawnedService, spawnService, TEST_SECRET } from '../test/support/service.ts';
import { startSystemPostgres } from '../test/support/system-postgres.ts';
import { until } from '../test/support/until.ts';
import { checkRestored } from './backup-faults/check-restored.ts';
import { startWriter, type Writer } from './backup-faults/writers.ts';
import { percentile } from './bench/latencies.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '8' },
    writers: { type: 'string', default: '6' },
  },
});
const [rounds, seconds, writerCount] = [values.rounds, values.seconds, values.writers].map(Number) as [
  number,
  number,
  number,
];
/** Milliseconds of a backup after which it is killed or interrupted, at most. */
const MAX_LIFE = 2500;

const postgres = await startSystemPostgres();
process.env.TEST_DATABASE_URL = postgres.url;
const folder = await mkdtemp(join(tmpdir(), 'tenon-backup-faults-'));
const uploads = join(folder, 'uploads');
const database = await freshDatabase('backup_faults');
const services: SpawnedService[] = [];
const problems: string[] = [];

const environment = (one: FreshDatabase, files: string) => ({
  DB_CONNECTION_STRING: one.url,
  STORAGE_LOCAL_ROOT: files,
  POSTGRES_PROGRAMS_PATH: postgres.programs,
  DATA_PATH: join(folder, 'data'),
  CONFIG_PATH: '/dev/null',
  LOG_LEVEL: 'warn',
  SECRET: TEST_SECRET,
});
const backup = (name: string): CliProcess =>
  runCli(['backup', join(folder, name), '--json'], environment(database, uploads));

try {
  await prepare();
  const writers = Array.from({ length: writerCount }, (_, number) => startWriter(number, services));
  // Until each writer deletes files as well, at the latest.
  await Promise.all([
    pause(seconds * 1000),
    until(() => writers.every(({ counters }) => counters.length > 35), 300_000),
  ]);
  const backups: (readonly [number, number])[] = [];
  for (let round = 1; round <= rounds; round++) backups.push(await runRound(round, writers));
  await Promise.all(writers.map((writer) => writer.stop()));
  reportRequests(writers, backups);
  await checkSource();
} finally {
  for (const service of services) await service.stop();
  await database.drop();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
for (const problem of problems) console.log(`WRONG: ${problem}`);
console.log(problems.length === 0 ? 'rows, bytes and moments agree' : `${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

async function prepare(): Promise<void> {
  await database.query(
    'create table account (id int primary key, balance int); create table counter (id int primary key, value int)',
  );
  for (let number = 0; number < writerCount; number++)
    await database.query(
      `insert into account values (${number * 2}, 50), (${number * 2 + 1}, 50); insert into counter values (${number}, 0)`,
    );
  const env = { STORAGE_LOCAL_ROOT: uploads, MAX_PAYLOAD_SIZE: '10mb' };
  services.push(await spawnService({ database, env, args: ['up'] }));
  services.push(await spawnService({ database, env }));
}

/** One backup that ends and is restored, after one that is killed or interrupted. Answers when the first one ran. */
async function runRound(round: number, writers: readonly Writer[]): Promise<readonly [number, number]> {
  await endEarly(`ended-${round}`, round % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
  const begin = Date.now();
  const { ended, standardOutput, output } = backup(`round-${round}`);
  const code = await ended;
  const end = Date.now();
  if (code !== 0) {
    problems.push(`round ${round}: backup ended with ${code}: ${output()}`);
    return [begin, end];
  }
  const summary = JSON.parse(standardOutput());
  const target = await freshDatabase('restored');
  const restoredFiles = join(folder, `restored-${round}`);
  try {
    const archive = join(folder, `round-${round}`);
    const restore = runCli(['restore', archive, '--json'], environment(target, restoredFiles));
    const restored = await restore.ended;
    if (restored !== 0) problems.push(`round ${round}: restore ended with ${restored}: ${restore.output()}`);
    else {
      const report = await checkRestored(target, restoredFiles, Date.parse(summary.snapshot), writers);
      problems.push(...report.problems.map((text) => `round ${round}: ${text}`));
      const check = runCli(['files', 'check'], environment(target, restoredFiles));
      if ((await check.ended) !== 0) problems.push(`round ${round}: files check: ${check.output()}`);
      const { seconds: took } = JSON.parse(restore.standardOutput());
      const size = ((await stat(archive)).size / 1e6).toFixed(1);
      console.log(
        `round ${round}: ${summary.objects} objects, archive of ${size} MB; backup ${summary.seconds.toFixed(1)} s, restore ${took.toFixed(1)} s; ${report.files} files and ${report.rows} rows compared, ${report.problems.length} problems`,
      );
    }
    await rm(archive);
  } finally {
    await target.drop();
    await rm(restoredFiles, { recursive: true, force: true });
  }
  return [begin, end];
}

/** Ends a backup at a random moment: no archive stands under its name, and after SIGTERM nothing else is left either. */
async function endEarly(name: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const { child, ended } = backup(name);
  await Promise.race([once(child, 'exit'), pause(Math.random() * MAX_LIFE)]);
  child.kill(signal);
  const code = await ended;
  const left = (await readdir(folder)).filter((file) => file.includes(name));
  console.log(`a backup was ended by ${signal}: exit code ${code}, files left: ${left.length}`);
  if (code !== 0 && left.includes(name)) problems.push(`${signal} left an archive of a backup that did not end`);
  if (signal === 'SIGTERM' && code !== 0 && left.length > 0) problems.push(`SIGTERM left ${left.join(', ')}`);
  for (const file of left) await rm(join(folder, file), { recursive: true, force: true });
}

function reportRequests(writers: readonly Writer[], backups: readonly (readonly [number, number])[]): void {
  const failures = writers.flatMap((one) => one.failures);
  const times = writers.flatMap((one) => one.times);
  const during = times.filter(({ at }) => backups.some(([begin, end]) => at >= begin && at <= end));
  const p95 = (some: typeof times) =>
    `${percentile(
      some.map(({ took }) => took),
      0.95,
    ).toFixed(0)} ms`;
  console.log(
    `${times.length} writes, ${failures.length} failed; p95 ${p95(times)}, during backups ${p95(during)} (${during.length})`,
  );
  for (const failure of failures.slice(0, 5)) problems.push(`a request failed: ${failure}`);
}

/** Once no backup holds them, the janitor has removed all objects that rows have dropped. */
async function checkSource(): Promise<void> {
  const isClean = async () => {
    const named = await database.query<{ name: string }>('select filename_disk as name from platform_files');
    const names = new Set(named.map(({ name }) => name));
    const entries = await readdir(uploads, { withFileTypes: true });
    return entries.every((one) => !one.isFile() || one.name.startsWith('.') || names.has(one.name));
  };
  await until(isClean, 90_000).catch(() => problems.push('objects without a row are left after the backups'));
}
