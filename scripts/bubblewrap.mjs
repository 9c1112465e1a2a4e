/**
 * Downloads bubblewrap, which applies most layers of confinement for third-party packages, on a Debian-like machine without it:
 * the package of the distribution, unpacked into node_modules and not installed. Plain JavaScript for any Node from 18 on.
 * Without bubblewrap the service runs, but third-party packages with fewer layers, and the service reports which.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folders in which the launcher looks for system programs (sandbox/host/launch/tools.ts). */
const FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin'];
const UNPACKED = 'node_modules/.bubblewrap';
/** Marks a download that failed, so that not every start tries again. It is deleted with node_modules. */
const FAILED = 'node_modules/.bubblewrap-failed';
/** Milliseconds for all commands together. */
const TIMEOUT = 30_000;

/**
 * Downloads bubblewrap where it is missing. Never throws and never takes longer than half a minute; `root` is the folder of the
 * checkout.
 */
export function bringBubblewrap(root) {
  if (process.platform !== 'linux' || !existsSync(join(root, 'node_modules'))) return;
  if (FOLDERS.some((folder) => isProgram(join(folder, 'bwrap')))) return;
  if (isProgram(join(root, UNPACKED, 'usr/bin/bwrap')) || existsSync(join(root, FAILED))) return;
  if (!['apt-get', 'dpkg-deb'].every((name) => FOLDERS.some((folder) => isProgram(join(folder, name))))) return;
  try {
    fetchInto(root, Date.now() + TIMEOUT);
    console.error('bubblewrap was unpacked for the confinement of third-party packages.');
  } catch {
    console.error('bubblewrap could not be fetched: third-party packages run with fewer layers of confinement.');
    remember(root);
  }
}

function fetchInto(root, deadline) {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-bubblewrap-'));
  const run = (command, ...args) => {
    const timeout = deadline - Date.now();
    if (timeout <= 0) throw new Error('out of time');
    const { status } = spawnSync(command, args, { cwd: folder, stdio: 'ignore', timeout, killSignal: 'SIGKILL' });
    return status === 0;
  };
  const must = (succeeded) => {
    if (!succeeded) throw new Error('failed');
  };
  const target = join(root, UNPACKED);
  try {
    if (!run('apt-get', 'download', 'bubblewrap')) {
      // A fresh container image has no lists of packages.
      must(process.getuid() === 0 && run('apt-get', 'update'));
      must(run('apt-get', 'download', 'bubblewrap'));
    }
    const file = readdirSync(folder).find((name) => name.endsWith('.deb'));
    must(file !== undefined);
    mkdirSync(target, { recursive: true });
    must(run('dpkg-deb', '-x', file, target));
    must(run(join(target, 'usr/bin/bwrap'), '--version'));
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function remember(root) {
  try {
    writeFileSync(join(root, FAILED), '');
  } catch {
    // Then the next start tries again.
  }
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
