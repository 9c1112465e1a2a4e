import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Milliseconds after which a hanging `apt-get` or `dpkg-deb` is killed. */
const DOWNLOAD_TIMEOUT = 120_000;

/** Debian packages whose program some tests need. */
export interface DebianProgram {
  /** Names of the packages that are unpacked even where the machine has them, for example `python3-swift`. */
  readonly names: readonly string[];
  /** Folder under `node_modules` that it is unpacked into, with all it depends on. */
  readonly folder: string;
  /** What the developer of a machine that is not like Debian can do. */
  readonly remedy: string;
}

export interface UnpackedDebianPackages {
  /** The root of the unpacked files: programs are in `usr/bin`. */
  readonly root: string;
  /** Value of LD_LIBRARY_PATH for its programs. */
  readonly libraryPath: string;
}

/**
 * Unpacks Debian packages, and all they depend on that the machine lacks, into a folder under `node_modules`, once, and installs
 * nothing: the machine is not changed and no root rights are needed.
 */
export async function unpackDebianPackages(program: DebianProgram): Promise<UnpackedDebianPackages> {
  const root = fileURLToPath(new URL(`../../node_modules/${program.folder}`, import.meta.url));
  if (!existsSync(root)) await bring(program, root);
  // Missing where the machine has all libraries.
  const folders = await readdir(join(root, 'usr/lib')).catch(() => []);
  const libraries = folders.filter((name) => name.includes('-linux-'));
  return { root, libraryPath: libraries.map((name) => join(root, 'usr/lib', name)).join(':') };
}

/** Downloads and unpacks the packages, with new package lists: those of the machine may be missing or old. */
async function bring({ names, remedy }: DebianProgram, root: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-debian-'));
  try {
    const [lists, cache, unpacked] = ['lists', 'cache', 'unpacked'].map((part) => join(folder, part)) as [
      string,
      string,
      string,
    ];
    for (const path of [lists, join(cache, 'archives')]) await mkdir(join(path, 'partial'), { recursive: true });
    await mkdir(unpacked);
    const apt = (...args: string[]) =>
      run('apt-get', '-q', '-y', ...options({ 'Dir::State::lists': lists, 'Dir::Cache': cache }), ...args);
    // `apt-get update` may fail for some package sources, as long as the packages are found.
    await apt('update').catch(() => {});
    await apt('install', '--download-only', '--reinstall', '--no-install-recommends', ...names);
    const archives = join(cache, 'archives');
    const packages = (await readdir(archives)).filter((file) => file.endsWith('.deb'));
    for (const file of packages) await run('dpkg-deb', '-x', join(archives, file), unpacked);
    await keep(unpacked, root);
  } catch (error) {
    throw new Error(
      `${names.join(', ')} could not be fetched by apt-get. On a machine that is not like Debian ${remedy}`,
      {
        cause: error,
      },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Moves the unpacked packages into node_modules in one step, since another test process may do the same. */
async function keep(unpacked: string, root: string): Promise<void> {
  const beside = `${root}-${process.pid}`;
  await run('cp', '-a', unpacked, beside);
  try {
    await rename(beside, root);
  } catch (error) {
    await rm(beside, { recursive: true, force: true });
    if (!existsSync(root)) throw error;
  }
}

const options = (folders: Readonly<Record<string, string>>) =>
  Object.entries({ ...folders, 'Debug::NoLocking': '1', 'APT::Sandbox::User': 'root' }).flatMap(([name, value]) => [
    '-o',
    `${name}=${value}`,
  ]);

async function run(command: string, ...args: string[]): Promise<void> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: DOWNLOAD_TIMEOUT,
    killSignal: 'SIGKILL',
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = await once(child, 'close');
  if (code !== 0)
    throw new Error(`${command} ${args.at(-1)} failed: ${stderr.trim().split('\n').slice(-3).join('; ')}`);
}
