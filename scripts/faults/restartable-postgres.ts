import { once } from 'node:events';
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createLog } from '../../kernel/log.ts';
import { findRunningPostgres, isProcessAlive } from '../../plugins/database/embedded/postmaster.ts';
import { openEmbeddedPostgresServer } from '../../plugins/database/embedded/server.ts';

const SIGNALS = { 'in order': 'SIGINT', 'as after a loss of power': 'SIGQUIT' } as const;

/** Starts a durable PostgreSQL for the script, which keeps its port over restarts. */
export async function startRestartablePostgres() {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-faults-'));
  // PostgreSQL does not run as root, so its user must be able to enter the folder.
  await chmod(folder, 0o711);
  const overrides = { port: String(await freePort()), max_connections: '100' };
  const start = () =>
    openEmbeddedPostgresServer({ dataPath: folder, log: createLog({ level: 'silent', style: 'raw' }), overrides });
  let running = await start();
  const { user, password, host, port } = running.target.client;
  let restarts = 0;
  return {
    url: `postgres://${user}:${encodeURIComponent(String(password))}@${host}:${port}/postgres`,
    restarts: () => restarts,
    async restart(how: keyof typeof SIGNALS): Promise<void> {
      const postmaster = await findRunningPostgres(await realpath(join(folder, 'postgres')));
      if (!postmaster) throw new Error('PostgreSQL does not run');
      process.kill(postmaster.pid, SIGNALS[how]);
      while (isProcessAlive(postmaster.pid)) await pause(20);
      running = await start();
      restarts++;
    },
    async stop(): Promise<void> {
      await running.server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}
