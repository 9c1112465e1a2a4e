import { execFile } from 'node:child_process';
import { link, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The contents of `postmaster.pid`. */
export interface PostmasterPidFileContents {
  readonly pid: number;
  readonly port: number;
  readonly status: 'starting' | 'ready' | 'stopping';
}

const pidFile = (cluster: string) => join(cluster, 'postmaster.pid');

export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The server that runs in this cluster, also where another process started it. */
export async function findRunningPostgres(cluster: string): Promise<PostmasterPidFileContents | undefined> {
  const postmaster = parsePidFile(await readFile(pidFile(cluster), 'utf8').catch(() => ''));
  return postmaster && (await isServerProcess(postmaster.pid, cluster)) ? postmaster : undefined;
}

function parsePidFile(text: string): PostmasterPidFileContents | undefined {
  const lines = text.split('\n');
  const [pid, port, status] = [Number(lines[0]), Number(lines[3]), lines[7]?.trim()];
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return { pid, port, status: status === 'ready' || status === 'stopping' ? status : 'starting' };
}

/** Whether the process is the server of this cluster: after a restart of the machine another program may have the process id. */
async function isServerProcess(pid: number, cluster: string): Promise<boolean> {
  if (!isProcessAlive(pid)) return false;
  const command =
    process.platform === 'linux'
      ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      : await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).then(
          ({ stdout }) => stdout,
          () => '',
        );
  return command.includes('postgres') && command.includes(cluster);
}

/**
 * Removes a `postmaster.pid` whose server is gone: PostgreSQL checks only that a process with this id exists, and then refuses to
 * start. Another process may be starting a server at the same time: the moved file is read again, and put back if its server
 * runs.
 */
export async function removeStalePidFile(cluster: string): Promise<void> {
  const asidePath = `${pidFile(cluster)}.${process.pid}`;
  const isMoved = await rename(pidFile(cluster), asidePath).then(
    () => true,
    () => false,
  );
  if (!isMoved) return;
  const postmaster = parsePidFile(await readFile(asidePath, 'utf8').catch(() => ''));
  if (postmaster && (await isServerProcess(postmaster.pid, cluster)))
    await link(asidePath, pidFile(cluster)).catch(() => {});
  await rm(asidePath, { force: true });
}
