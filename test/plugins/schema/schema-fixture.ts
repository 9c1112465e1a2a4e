import type { Host } from '#kernel';
import { boot, type Kernel } from '#kernel/boot';
import type { Db } from '../../../plugins/database/contract.ts';
import {
  type Collection,
  type Field,
  type RowChanges,
  rowChanges,
  type SchemaService,
  type SchemaWrites,
  schema,
  schemaWrites,
} from '../../../plugins/schema/contract.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { silentSettings, writeTestPluginPackages } from '../../support/test-plugins.ts';

/** A kernel with the plugin `schema` on a database, and the services and members of `host` of a test plugin in it. */
export interface SchemaFixture {
  readonly kernel: Kernel;
  readonly schema: SchemaService;
  readonly writes: SchemaWrites;
  readonly rowChanges: RowChanges;
  readonly db: Db;
  readonly events: Host['events'];
  readonly admin: ReturnType<Host['asSystem']>;
  collection(name: string): Promise<Collection>;
  field(collection: string, name: string): Promise<Field>;
  stop(): Promise<void>;
}

export interface SchemaFixtureOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What the manifest of the test plugin contributes. */
  readonly contributes?: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: a probe may use members that its manifest does not declare
  readonly register?: (host: Host<any>) => void;
}

const folders = ['database', 'cluster', 'schema'].map((name) => new URL(`../../../plugins/${name}/`, import.meta.url));
const EVENTS = ['collections', 'fields', 'relations'].flatMap((kind) =>
  ['create', 'update', 'delete'].map((verb) => `${kind}.${verb}`),
);

/** Starts a kernel with the plugin `schema` on an existing database, which stays when the kernel stops. */
export async function startSchemaFixture(
  database: Pick<FreshDatabase, 'url'>,
  options: SchemaFixtureOptions = {},
): Promise<SchemaFixture> {
  let host: Host | undefined;
  let used: { schema: SchemaService; schemaWrites: SchemaWrites; rowChanges: RowChanges } | undefined;
  const sketched = await writeTestPluginPackages([
    {
      name: 'probe',
      manifest: {
        uses: { schema: '^1.0.0', schemaWrites: '^1.0.0', rowChanges: '^1.0.0' },
        ...(options.contributes ? { contributes: options.contributes } : {}),
        capabilities: {
          database: { sql: 'tests run any statement', ddl: true },
          events: { filter: EVENTS, action: EVENTS },
          system: { reasons: ['a test'] },
        },
      },
      register(pluginHost) {
        host = pluginHost;
        used = pluginHost.use({ schema, schemaWrites, rowChanges });
        options.register?.(pluginHost);
      },
    },
  ]);
  const kernel = await boot(
    { plugins: [...folders, ...sketched.composition.plugins] },
    { environment: { ...silentSettings, DB_CONNECTION_STRING: database.url, ...options.env }, log: () => {} },
  );
  const stop = async () => {
    await kernel.stop();
    await sketched.remove();
  };
  try {
    await kernel.migrate();
    await kernel.start();
  } catch (error) {
    await stop();
    throw error;
  }
  const { db, events, asSystem } = host as Host;
  const { schema: schemaService, schemaWrites: writes, rowChanges: changes } = used as NonNullable<typeof used>;
  const collection = async (name: string): Promise<Collection> => {
    const found = (await schemaService.snapshot()).collections.get(name);
    if (!found) throw new Error(`there is no collection ${name}`);
    return found;
  };
  return {
    kernel,
    schema: schemaService,
    writes,
    rowChanges: changes,
    db,
    events,
    admin: asSystem('a test'),
    collection,
    async field(name, field) {
      const found = (await collection(name)).fields.get(field);
      if (!found) throw new Error(`there is no field ${name}.${field}`);
      return found;
    },
    stop,
  };
}

/** Runs `work` with the plugin `schema` on a new database that `sql` has prepared; stops and drops both afterwards. */
export async function withSchemaFixture<T>(
  sql: string,
  work: (probe: SchemaFixture, database: FreshDatabase) => Promise<T>,
  options?: SchemaFixtureOptions,
): Promise<T> {
  const database = await freshDatabase('schema');
  try {
    if (sql) await database.query(sql);
    const probe = await startSchemaFixture(database, options);
    try {
      return await work(probe, database);
    } finally {
      await probe.stop();
    }
  } finally {
    await database.drop();
  }
}
