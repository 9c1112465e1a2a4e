import { execFile } from 'node:child_process';
import { link, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What a server says about itself in its `postmaster.pid`. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly status: 'starting' | 'ready' | 'stopping';
}

const pidFile = (cluster: string) => join(cluster, 'postmaster.pid');

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The server that runs in this cluster, whoever started it. */
export async function runningServer(cluster: string): Promise<Postmaster | undefined> {
  const postmaster = parsePidFile(await readFile(pidFile(cluster), 'utf8').catch(() => ''));
  return postmaster && (await isServerProcess(postmaster.pid, cluster)) ? postmaster : undefined;
}

function parsePidFile(text: string): Postmaster | undefined {
  const lines = text.split('\n');
  const [pid, port, status] = [Number(lines[0]), Number(lines[3]), lines[7]?.trim()];
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return { pid, port, status: status === 'ready' || status === 'stopping' ? status : 'starting' };
}

/** After a restart of the machine the number may be anybody's. */
async function isServerProcess(pid: number, cluster: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
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
 * A server looks at the number alone and would take any living process of the same user for one of its kind. Another
 * process may be starting a server at this very moment: what is taken away is looked at again and put back if it lives.
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
