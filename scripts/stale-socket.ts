import { once } from 'node:events';
import { lstat, rm } from 'node:fs/promises';
import { connect } from 'node:net';

/**
 * Removes the socket that a killed process left at UNIX_SOCKET_PATH, where no process would ever listen again. A socket that is
 * answered, and any other kind of file, stays.
 */
export async function removeStaleSocket(path: string | undefined): Promise<void> {
  if (path === undefined || !(await lstat(path).catch(() => undefined))?.isSocket()) return;
  const probe = connect(path);
  const isAnswered = await once(probe, 'connect').then(
    () => true,
    (error) => error.code !== 'ECONNREFUSED',
  );
  probe.destroy();
  if (!isAnswered) await rm(path, { force: true });
}
