/**
 * Installs the dependencies where they are missing or not those of package-lock.json, and says nothing otherwise. Plain
 * JavaScript for any Node from 18 on: the Node that runs the service is one of the dependencies.
 *
 * Packages may run scripts of theirs only where package.json allows it (`allowScripts`): the others bring what they need,
 * and one of them would try to compile for whatever Node installs it.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bringBubblewrap } from './bubblewrap.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const BUILT = 'node_modules/.tenon-built';
const allowed = () =>
  Object.entries(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).allowScripts)
    .filter(([name, isAllowed]) => isAllowed && existsSync(join(root, 'node_modules', name)))
    .map(([name]) => name);
const packagesIn = (path) => JSON.parse(readFileSync(join(root, path), 'utf8')).packages;

function isInstalled() {
  if (!existsSync(join(root, 'node_modules/.package-lock.json'))) return false;
  const installed = packagesIn('node_modules/.package-lock.json');
  return Object.entries(packagesIn('package-lock.json')).every(([path, locked]) => {
    const found = installed[path];
    if (path === '' || (!found && isOptional(locked))) return true;
    return found !== undefined && found.version === locked.version && found.integrity === locked.integrity;
  });
}

/** Whether the allowed scripts of packages have run for this package-lock.json. */
const isBuilt = () => existsSync(join(root, BUILT)) && readFileSync(join(root, BUILT), 'utf8') === lockHash();
const lockHash = () =>
  createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');

/** Whether a package may be missing: it is for other machines, or only tests and checks need it, in production. */
const isOptional = ({ optional, devOptional, peer, dev }) =>
  optional || devOptional || peer || (dev && process.env.NODE_ENV === 'production');

/** Runs `work` under a lock file: of two starts in one empty clone, the second waits for the installation of the first. */
function withLock(work) {
  const lock = join(tmpdir(), `tenon-setup-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`);
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (!isAlive(lock)) rmSync(lock, { force: true });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  }
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function isAlive(lock) {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function install() {
  if (!isInstalled()) {
    console.error('Installing dependencies …');
    // Not `npm ci`: it gives up where the lock file lacks optional packages of other machines that a registry did not have.
    npm('install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts');
  }
  if (!process.exitCode && !isBuilt()) {
    npm('rebuild', ...allowed(), '--ignore-scripts=false');
    if (!process.exitCode) writeFileSync(join(root, BUILT), lockHash());
  }
  if (!process.exitCode) bringBubblewrap(root);
}

function npm(...args) {
  const path = process.env.npm_execpath;
  const [command, ...before] = path?.endsWith('js') ? [process.execPath, path] : ['npm'];
  const { status, error } = spawnSync(command, [...before, ...args, '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status === 0) return;
  console.error(
    `The dependencies could not be installed${error ? `: ${error.message}` : ''}. Run "npm install" to see why.`,
  );
  process.exitCode = 1;
}

/** Compiles the sources once in a process of its own, so that the first start is as small and fast as all others. */
function warm() {
  if (existsSync(join(root, 'node_modules/.cache/tenon'))) return;
  spawnSync(join(root, 'scripts/node'), [join(root, 'scripts/cli.ts'), 'audit'], { cwd: root, stdio: 'ignore' });
}

if (!isInstalled() || !isBuilt()) withLock(install);
if (!process.exitCode) warm();
