import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const UNPACKED = fileURLToPath(new URL('../../../node_modules/.swift', import.meta.url));
const PACKAGE = 'python3-swift';
/** Milliseconds after which a hanging `apt-get` or `dpkg-deb` is killed. */
const DOWNLOAD_TIMEOUT = 120_000;

export interface PythonCommand {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The command and environment of a Python with OpenStack Swift. Its Debian packages are unpacked into `node_modules/.swift` and
 * not installed, so that the machine is not changed and no root rights are needed.
 */
export async function prepareSwiftPython(): Promise<PythonCommand> {
  if (!existsSync(UNPACKED)) await bring();
  const libraries = (await readdir(join(UNPACKED, 'usr/lib'))).filter((name) => name.includes('-linux-'));
  const own = join(UNPACKED, 'usr/bin/python3');
  return {
    program: existsSync(own) ? own : '/usr/bin/python3',
    env: {
      PYTHONPATH: join(UNPACKED, 'usr/lib/python3/dist-packages'),
      PYTHONDONTWRITEBYTECODE: '1',
      LD_LIBRARY_PATH: libraries.map((name) => join(UNPACKED, 'usr/lib', name)).join(':'),
    },
  };
}

/** Downloads and unpacks the packages, with new package lists: those of the machine may be missing or old. */
async function bring(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-swift-'));
  try {
    const [lists, cache, unpacked] = ['lists', 'cache', 'unpacked'].map((name) => join(folder, name)) as [
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
    await apt('install', '--download-only', '--no-install-recommends', PACKAGE);
    const archives = join(cache, 'archives');
    const packages = (await readdir(archives)).filter((name) => name.endsWith('.deb'));
    for (const name of packages) await run('dpkg-deb', '-x', join(archives, name), unpacked);
    await keep(unpacked);
  } catch (error) {
    throw new Error(
      `the tests of the s3 driver need a server: ${PACKAGE} could not be fetched by apt-get. On a machine that is not ` +
        'like Debian set TEST_S3_URL to http://KEY:SECRET@HOST:PORT/BUCKET, a bucket of a server of your own.',
      { cause: error },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Moves the unpacked packages into node_modules in one step, since another test process may do the same. */
async function keep(unpacked: string): Promise<void> {
  const beside = `${UNPACKED}-${process.pid}`;
  await run('cp', '-a', unpacked, beside);
  try {
    await rename(beside, UNPACKED);
  } catch (error) {
    await rm(beside, { recursive: true, force: true });
    if (!existsSync(UNPACKED)) throw error;
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
