import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Caller, CallerFields, Host } from '#kernel';
import { boot, type Kernel } from '#kernel/boot';
import {
  broker,
  type ConfinedCodeInvocation,
  type InvocationSecretReferences,
  type PackageGrantBroker,
} from '../../../../plugins/broker/contract.ts';
import { InvocationSecrets } from '../../../../plugins/broker/library.ts';
import { createCaller } from '../../../support/caller.ts';
import { type FreshDatabase, freshDatabase } from '../../../support/database.ts';
import { silentSettings, writeTestPluginPackages } from '../../../support/test-plugins.ts';

// biome-ignore format: a list of names
const PRODUCT = [
  'broker', 'workers', 'database', 'cluster', 'schedule', 'http', 'passwords', 'outbound', 'storage', 'storage-local', 'media', 'schema', 'query', 'access',
  'activity', 'items', 'users', 'auth', 'folders', 'settings', 'files', 'history',
];

export const ROLE_ID = '11111111-1111-4111-8111-111111111111';
export const USER_ID = '22222222-2222-4222-8222-222222222222';
export const createItemsCaller = (more: Partial<CallerFields> = {}): Caller =>
  createCaller({ user: USER_ID, role: ROLE_ID, ip: '192.0.2.7', ...more });

export interface ItemsCapabilityFixture {
  readonly subjects: PackageGrantBroker;
  readonly host: Host;
  readonly database: FreshDatabase;
  stop(): Promise<void>;
}

/** Starts the core plugins that `items` needs, on a new database with the tables and permissions of `sql`. */
export async function startItemsCapability(
  sql: string,
  environment: Record<string, string> = {},
): Promise<ItemsCapabilityFixture> {
  const database = await freshDatabase('items_capability');
  const data = await mkdtemp(join(tmpdir(), 'tenon-items-'));
  let host: Host | undefined;
  let subjects: PackageGrantBroker | undefined;
  const { composition, remove } = await writeTestPluginPackages([
    {
      name: 'runner',
      manifest: {
        uses: { broker: '^1.0.0' },
        capabilities: { events: { filter: ['**'], action: ['**'] }, system: { reasons: ['test'] } },
      },
      register: (pluginHost) => {
        host = pluginHost;
        subjects = pluginHost.use({ broker }).broker;
      },
    },
  ]);
  let kernel: Kernel | undefined;
  const stop = async () => {
    await kernel?.stop();
    await remove();
    await rm(data, { recursive: true, force: true });
    await database.drop();
  };
  try {
    const root = new URL('../../../../plugins/', import.meta.url);
    const plugins = [...PRODUCT.map((name) => new URL(`${name}/`, root)), ...composition.plugins];
    const env = {
      ...silentSettings,
      DATA_PATH: data,
      EXTENSIONS_PATH: '/dev/null',
      DB_CONNECTION_STRING: database.url,
    };
    kernel = await boot(
      { plugins },
      {
        environment: {
          ...env,
          SECRET: 'a secret that only tests know',
          ADMIN_EMAIL: 'a@example.com',
          ADMIN_PASSWORD: 'correct horse',
          ...environment,
        },
      },
    );
    await kernel.migrate();
    await database.query(sql);
    await kernel.start();
    return { subjects: subjects as PackageGrantBroker, host: host as Host, database, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export type CallItemsMethod = (
  method: string,
  args: readonly unknown[],
  who?: Caller | null,
  secrets?: InvocationSecretReferences,
) => Promise<unknown>;

/** Returns a function that calls methods of `host.items` as the confined package `pilot` with this grant. */
export function createItemsMethodCaller(service: ItemsCapabilityFixture, grant: unknown): CallItemsMethod {
  const { subjects } = service;
  const grants = { items: grant };
  if (subjects.findProblems(grants).length > 0) throw new Error(subjects.findProblems(grants).join('\n'));
  const brokerAccess = subjects.register({ name: 'pilot', version: '2.0.0', runtime: 'confined', grants });
  return (method, args, who = createItemsCaller(), secrets = new InvocationSecrets()) => {
    const invocation: ConfinedCodeInvocation = {
      id: 'run',
      caller: who,
      signal: new AbortController().signal,
      secrets,
    };
    // Arguments are serialised, as between the service and a confined process.
    return brokerAccess.call(`items.${method}`, JSON.parse(JSON.stringify(args)), invocation);
  };
}
