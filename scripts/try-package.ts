/**
 * `npm run try:package`: what an admin does with the package, as a user without rights, in an empty folder. It is installed and
 * started, gets data, a file and two packages of extensions, and is upgraded to a version with a migration. A version whose migration
 * fails follows, and the one before it goes on. Prints sizes and times; fails where something is not as it was.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../test/support/free-port.ts';
import { buildPackage } from './pack/build-package.ts';
import { OUTPUT_FOLDER } from './pack/folders.ts';
import { createTrialVersion } from './pack/next-version.ts';
import { packFolder } from './pack/pack-folder.ts';
import { createOrdinaryUser, type OrdinaryUser } from './upgrade/ordinary-user.ts';
import { assertSampleIsIntact, createSample, type Sample } from './upgrade/sample-data.ts';
import { writeSamplePackages } from './upgrade/sample-packages.ts';
import {
  captureRefusedStart,
  startTrialProcess,
  type TrialProcess,
  type TrialProcessOptions,
} from './upgrade/trial-process.ts';

const NOTE = {
  id: 'trial-note',
  worksSince: '0.1.0',
  statements: ['alter table $table add column note text', 'update $table set note = name'],
};
const FAILING = { id: 'trial-failure', statements: ['alter table $table drop column note', 'select 1/0 from $table'] };

const user = createOrdinaryUser('tenon-trial');
const port = await findFreePort();
try {
  const built = await time('built', () => buildPackage());
  const first = pack(built.folder);
  const second = pack(createTrialVersion({ version: '0.2.0', migrations: [NOTE] }));
  const third = pack(createTrialVersion({ version: '0.3.0', migrations: [NOTE, FAILING] }));

  const bare = createOrdinaryUser('tenon-trial-bare');
  try {
    await install(bare, first, '--omit=peer');
    console.log(`        ${sizeOf(bare)} installed without the embedded PostgreSQL`);
  } finally {
    bare.remove();
  }
  await install(user, first);
  console.log(`        ${sizeOf(user)} installed with the embedded PostgreSQL`);
  writeSamplePackages(user.folder);

  let service = await start(built.version, 'npx', 'tenon');
  const sample = await time('sample made', () => createSample(port, service.output()));
  await check(sample);
  await stop(service);

  await install(user, second);
  service = await start('0.2.0');
  await check(sample);
  await stop(service);

  await install(user, third);
  const output = await captureRefusedStart(optionsOf('0.3.0'));
  console.log(output.trim().replace(/^/gm, '        '));
  if (!output.includes('trial-failure')) throw new Error('the failed migration is not named');

  await install(user, second);
  service = await start('0.2.0');
  await check(sample);
  await stop(service);
  console.log('all as it was');
} finally {
  user.remove();
}

function pack(folder: string): string {
  const archive = packFolder(folder, OUTPUT_FOLDER);
  const copy = join(user.folder, archive.split('/').at(-1) as string);
  copyFileSync(archive, copy);
  return copy;
}

async function install(whom: OrdinaryUser, archive: string, ...flags: readonly string[]): Promise<void> {
  const name = archive.split('/').at(-1) as string;
  if (whom !== user) copyFileSync(archive, join(whom.folder, name));
  await time(`npm install ${[...flags, name].join(' ')}`, () =>
    whom.run('npm', 'install', '--no-audit', '--no-fund', '--loglevel=error', ...flags, `./${name}`),
  );
}

/** Kilobytes on disk, as an admin sees them. */
function sizeOf({ folder }: OrdinaryUser): string {
  const { stdout } = spawnSync('du', ['-sk', join(folder, 'node_modules')], { encoding: 'utf8' });
  return `${((Number.parseInt(stdout, 10) * 1024) / 1e6).toFixed(0)} MB`;
}

function optionsOf(version: string, ...command: readonly string[]): TrialProcessOptions {
  const [program = join(user.folder, 'node_modules/.bin/tenon'), ...args] = command;
  return {
    version,
    command: [program, ...args, 'start'],
    cwd: user.folder,
    environment: { ...user.environment, HOST: '127.0.0.1' },
    port,
    account: user.account,
  };
}

async function start(version: string, ...command: readonly string[]): Promise<TrialProcess> {
  return time(`version ${version} started`, () => startTrialProcess(optionsOf(version, ...command)));
}

async function stop(service: TrialProcess): Promise<void> {
  const { code } = await time(`version ${service.version} stopped`, () => service.stop());
  // npx ends by the signal itself.
  if (code !== 0 && code !== null)
    throw new Error(`version ${service.version} ended with ${code}:\n${service.output()}`);
}

function check(sample: Sample): Promise<void> {
  return time('sample read', () => assertSampleIsIntact(port, sample));
}

async function time<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await work();
  console.log(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${what}`);
  return result;
}
