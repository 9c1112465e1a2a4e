import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createLog } from '../../kernel/log.ts';
import { embeddedServer } from '../../plugins/database/embedded/server.ts';

/** A PostgreSQL for one test run. */
export interface TestServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** The server at TEST_DATABASE_URL, else an embedded one in a temporary folder. */
export async function startServer(): Promise<TestServer> {
  const given = process.env.TEST_DATABASE_URL;
  if (given) return { url: given, stop: async () => {} };

  const folder = await mkdtemp(join(tmpdir(), 'tenon-test-server-'));
  // Root does not run PostgreSQL itself; the user who does must be able to enter.
  await chmod(folder, 0o711);
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const { target, server } = await embeddedServer({
      dataPath: folder,
      log: createLog({ level: 'silent', style: 'raw' }),
    });
    const { user, password, host, port } = target.client;
    const url = `postgres://${user}:${encodeURIComponent(String(password))}@${host}:${port}/postgres`;
    return {
      url,
      async stop() {
        // A service that a test left running would keep the server up.
        await cutAll(url).catch(() => {});
        await server.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function cutAll(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename = current_user',
    );
  } finally {
    await client.end();
  }
}
