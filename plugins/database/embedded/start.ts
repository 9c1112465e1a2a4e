import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { postgresProgramPath } from './binaries.ts';
import type { PostgresClusterLocation } from './cluster-location.ts';
import { findRunningPostgres, removeStalePidFile } from './postmaster.ts';
import { postgresEnvironment } from './system-account.ts';

/**
 * PostgreSQL settings with small values: the server runs beside a Node process on small machines, and the file cache of the
 * system holds most data.
 */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '50',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  // `renderDatabaseSessionSettings` says why jit is off. Worker processes for asynchronous reads pay off for larger data only.
  jit: 'off',
  io_method: 'sync',
  fsync: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/**
 * Starts a server. Answers undefined once it is ready, or its log output where it exits before. The server gets its own process
 * session, so that Ctrl-C in a terminal stops this process, which then stops the server.
 */
export async function startPostgresServer(
  { account, binaries, cluster }: PostgresClusterLocation,
  logFile: string,
  overrides: Readonly<Record<string, string>> = {},
): Promise<string | undefined> {
  await removeStalePidFile(cluster);
  const output = await open(logFile, 'a', 0o600);
  const logSize = (await output.stat()).size;
  const settings = Object.entries({ ...SETTINGS, ...overrides }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(
    postgresProgramPath(binaries, 'postgres'),
    ['-D', cluster, '-p', String(await findFreePort()), ...settings],
    {
      ...account,
      cwd: '/',
      env: postgresEnvironment,
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
    },
  );
  const exited = once(child, 'exit').then(
    () => true,
    () => true,
  );
  child.unref();
  try {
    for (;;) {
      if (await Promise.race([exited, wait(15, false)])) return (await readFile(logFile, 'utf8')).slice(logSize).trim();
      const running = await findRunningPostgres(cluster);
      if (running?.pid === child.pid && running?.status === 'ready') return undefined;
    }
  } finally {
    await output.close();
  }
}

/**
 * Finds a free TCP port. Where another program takes the port before the server does, the start fails and is tried again with
 * another port.
 */
async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
