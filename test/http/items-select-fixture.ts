import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Caller, Host } from '#kernel';
import { CORE_PLUGIN_FLOORS } from '../../plugins/core-plugins.ts';
import { type ItemsEngine, items } from '../../plugins/items/contract.ts';
import { createCaller } from '../support/caller.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createSender, type HttpReply } from '../support/send.ts';
import {
  adminToken,
  createMigratedDatabase,
  FIRST_ADMIN_CREDENTIALS,
  QUICK_HASH_SETTINGS,
  TEST_SECRET,
} from '../support/service.ts';
import { withBootedTestPlugins } from '../support/test-plugins.ts';

export interface ItemsSelectFixture {
  readonly items: ItemsEngine;
  readonly database: FreshDatabase;
  readonly admin: Caller;
  /** Sends a request as the first admin. Throws for a status of 300 or more. */
  send(method: string, path: string, body?: unknown): Promise<HttpReply>;
  /** Creates a role with read permissions (fields and row rule by collection), and answers a caller of the role. */
  callerWith(grants: Readonly<Record<string, readonly [fields: readonly string[], rule?: object]>>): Promise<Caller>;
}

const EVENTS = ['post', 'hero'].flatMap((name) => [`${name}.items.read`, `${name}.items.query`]);

/**
 * Creates tables by `sql`, starts all core plugins and one that uses the service `items`, and runs `work`. `listen` gets the
 * host of that plugin and may register listeners.
 */
export async function withItemsSelectFixture(
  sql: string,
  work: (asking: ItemsSelectFixture) => Promise<void>,
  // biome-ignore lint/suspicious/noExplicitAny: hosts are made from the manifest
  listen: (host: Host<any>) => void = () => {},
): Promise<void> {
  const database = await createMigratedDatabase('select');
  const data = await mkdtemp(join(tmpdir(), 'tenon-data-'));
  const environment = {
    DB_CONNECTION_STRING: database.url,
    DATA_PATH: data,
    EXTENSIONS_PATH: join(data, 'extensions'),
    LOG_STYLE: 'raw',
    SECRET: TEST_SECRET,
    ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
    ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
    ...QUICK_HASH_SETTINGS,
  };
  let service: ItemsEngine | undefined;
  try {
    await database.query(sql);
    await withBootedTestPlugins(
      [
        {
          name: 'asker',
          manifest: { uses: { items: '^1.0.0' }, capabilities: { events: { filter: EVENTS, action: EVENTS } } },
          // biome-ignore lint/suspicious/noExplicitAny: hosts are made from the manifest
          register(host: Host<any>) {
            service = host.use({ items }).items;
            listen(host);
          },
        },
      ],
      async ({ kernel }) => {
        await kernel.migrate();
        await kernel.start();
        const { port } = await kernel.listen();
        const request = createSender(`http://127.0.0.1:${port}`);
        const token = await adminToken(database);
        const send: ItemsSelectFixture['send'] = async (method, path, body) => {
          const reply = await request(method, path, { token, body });
          if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
          return reply;
        };
        await work({
          items: service as ItemsEngine,
          database,
          admin: createCaller({ admin: true, app: true }),
          send,
          async callerWith(grants) {
            const role = (await send('POST', '/roles', { name: 'reader', app_access: false })).body.data.id;
            for (const [collection, [fields, permissions = null]] of Object.entries(grants))
              await send('POST', '/permissions', { collection, action: 'read', fields, permissions, role });
            return createCaller({ role });
          },
        });
      },
      { environment, product: CORE_PLUGIN_FLOORS.flatMap(({ plugins }) => plugins) },
    );
  } finally {
    await rm(data, { recursive: true, force: true });
    await database.drop();
  }
}
