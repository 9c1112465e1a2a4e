import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { capabilities, type EventsApi, type Host } from '#kernel';
import { boot, type Kernel } from '#kernel/boot';
import { access } from '../../../plugins/access/contract.ts';
import { activity } from '../../../plugins/activity/contract.ts';
import { broker } from '../../../plugins/broker/contract.ts';
import { bus, lock } from '../../../plugins/cluster/contract.ts';
import { extensionSettings } from '../../../plugins/extension-settings/contract.ts';
import type {
  DiscoveredExtension,
  ExtensionManifest,
  ExtensionType,
  LoadedExtension,
  PackageFlowOperations,
} from '../../../plugins/extensions/contract.ts';
import { createPackageMountRegistry } from '../../../plugins/extensions/library.ts';
import { fullAuthorityCapability } from '../../../plugins/extensions-full/full-capability.ts';
import { loadFullAuthorityExtension } from '../../../plugins/extensions-full/load.ts';
import { flowOperations, operations } from '../../../plugins/flows/contract.ts';
import { routeMounts, routing } from '../../../plugins/http/contract.ts';
import { items } from '../../../plugins/items/contract.ts';
import { query } from '../../../plugins/query/contract.ts';
import { schedule } from '../../../plugins/schedule/contract.ts';
import { schema, schemaWrites } from '../../../plugins/schema/contract.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { createSender, type SendRequest } from '../../support/send.ts';
import { adminToken, FIRST_ADMIN_CREDENTIALS, QUICK_HASH_SETTINGS, TEST_SECRET } from '../../support/service.ts';
import { silentSettings, writeTestPluginPackages } from '../../support/test-plugins.ts';

export interface ExtensionSources {
  readonly type?: ExtensionType;
  readonly name?: string;
  /** Source files by path, with `index.js` as the entry; a string is the source of the entry alone. */
  readonly files: string | Readonly<Record<string, string>>;
  readonly manifest?: Partial<ExtensionManifest>;
  /** Whether the extension is a single file, without a package.json and manifest. */
  readonly single?: boolean;
  readonly entry?: string;
}

/** What `loadFullAuthorityExtension` needs, and `events`, by which tests emit events and listen to them. */
type Deps = Parameters<typeof loadFullAuthorityExtension>[1] & { readonly events: EventsApi };

/** A running service where a test loads extensions one by one, by the function that the core loader calls. */
export interface ExtensionTestService {
  readonly url: string;
  readonly request: SendRequest;
  readonly admin: string;
  readonly deps: Deps;
  readonly kernel: Kernel;
  readonly database: FreshDatabase;
  readonly log: readonly Record<string, unknown>[];
  createExtension(extension: ExtensionSources): Promise<DiscoveredExtension>;
  load(extension: ExtensionSources, options?: { deadline?: number }): Promise<LoadedExtension>;
  /** Loads the extension, runs `work` and unloads the extension. */
  with<T>(extension: ExtensionSources | string, work: () => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

const PLUGINS = [
  ...[
    'broker',
    'workers',
    'database',
    'cluster',
    'schedule',
    'http',
    'queue',
    'passwords',
    'secrets',
    'outbound',
    'templates',
    'mail',
    'storage',
  ],
  'storage-local',
  ...[
    'media',
    'schema',
    'query',
    'access',
    'activity',
    'retention',
    'collections',
    'items',
    'users',
    'auth',
    'folders',
  ],
  ...['settings', 'files', 'presets', 'notifications', 'dashboards', 'translations', 'comments', 'history', 'flows'],
  ...['extension-settings', 'redis', 'rate-limit', 'server'],
];
const PHASES = { hook: 'hooks', endpoint: 'endpoints', operation: 'operations', bundle: 'bundles' } as const;
const SERVICES = {
  access,
  activity,
  subjects: broker,
  bus,
  lock,
  items,
  operations,
  query,
  routing,
  schedule,
  schema,
  schemaWrites,
  settings: extensionSettings,
};

const createLoaderPlugin = (receive: (deps: Deps) => void) => ({
  name: 'stage',
  manifest: {
    uses: Object.fromEntries(Object.values(SERVICES).map(({ id }) => [id, '^1.0.0'])),
    contributes: {
      'http.mounts': {},
      'flows.operations': { packages: true },
      capabilities: { names: ['full'] },
    },
    capabilities: {
      database: { own: ['platform_schedule_ticks'], sql: 'tests run any statement' },
      events: { emit: ['**'] },
      log: true,
      packages: true,
      identity: { evidence: ['accountability'] },
      system: { reasons: ['a test'] },
    },
  },
  register(host: Host) {
    const used = host.use(SERVICES);
    const offers: PackageFlowOperations = {
      ...used.operations,
      register: (owner, operation) => host.contribute(flowOperations, { ...operation, owner }),
    };
    const places = createPackageMountRegistry({
      routing: used.routing,
      contribute: (mount) => host.contribute(routeMounts, mount),
      log: host.log,
    });
    host.contribute(capabilities, fullAuthorityCapability);
    const { log, events, packages, identity, asSystem, db } = host;
    const own = {
      log,
      events,
      packages,
      identity,
      asSystem,
      db,
      mounts: places,
      serviceClasses: () => [],
      isCommandProcess: () => false,
      operations: offers,
    };
    receive({ ...used, ...own } as unknown as Deps);
  },
});

export async function startExtensionTestService(
  options: { env?: Record<string, string>; database?: FreshDatabase } = {},
): Promise<ExtensionTestService> {
  const database = options.database ?? (await freshDatabase('full'));
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'tenon-full-')));
  let deps: Deps | undefined;
  const { composition, remove } = await writeTestPluginPackages([
    createLoaderPlugin((received) => void (deps = received)),
  ]);
  const log: Record<string, unknown>[] = [];
  let kernel: Kernel | undefined;
  const stop = async () => {
    await kernel?.stop();
    await remove();
    await rm(folder, { recursive: true, force: true });
    if (!options.database) await database.drop();
  };
  try {
    const plugins = PLUGINS.map((name) => new URL(`../../../plugins/${name}/`, import.meta.url));
    kernel = await boot(
      { ...composition, plugins: [...plugins, ...composition.plugins] },
      {
        environment: {
          ...silentSettings,
          LOG_LEVEL: 'debug',
          LOG_STYLE: 'raw',
          DB_CONNECTION_STRING: database.url,
          DATA_PATH: folder,
          SECRET: TEST_SECRET,
          EMAIL_TRANSPORT: 'log',
          LOGIN_STALL_TIME: '1',
          ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
          ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
          ...QUICK_HASH_SETTINGS,
          ...options.env,
        },
        log: (line) => void log.push(JSON.parse(line)),
      },
    );
    await kernel.migrate();
    await kernel.start();
    const { port } = await kernel.listen();
    const url = `http://127.0.0.1:${port}`;
    const request = createSender(url);
    const admin = (await adminToken(database)) as string;
    let count = 0;

    const found = async ({
      type = 'endpoint',
      name,
      files,
      manifest,
      single,
      entry = 'index.js',
    }: ExtensionSources) => {
      const place = join(folder, `${++count}`);
      const all = typeof files === 'string' ? { [entry]: files } : files;
      for (const [path, text] of Object.entries({ 'package.json': '{"type":"module"}', ...all })) {
        await mkdir(dirname(join(place, path)), { recursive: true });
        await writeFile(join(place, path), text);
      }
      const full = { type, host: '^1.0.0', path: entry, ...manifest } as ExtensionManifest;
      return {
        id: place,
        folder: place,
        revision: 'one',
        name: name ?? `service-extension-test-${count}`,
        local: true,
        type,
        files: { api: join(place, entry) },
        ...(single ? {} : { version: '1.2.3', manifest: full }),
      } as DiscoveredExtension;
    };
    const load: ExtensionTestService['load'] = async (extension, more) =>
      loadFullAuthorityExtension(
        await found(extension),
        deps as Deps,
        PHASES[(extension.type ?? 'endpoint') as keyof typeof PHASES],
        more,
      );
    return {
      url,
      request,
      admin,
      deps: deps as Deps,
      kernel,
      database,
      log,
      createExtension: found,
      load,
      async with(extension, work) {
        const loaded = await load(typeof extension === 'string' ? { files: extension } : extension);
        try {
          return await work();
        } finally {
          await loaded.remove();
        }
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Values that extensions of a test report to it. */
export const extensionReports: unknown[] = [];
Object.assign(globalThis, { [Symbol.for('tenon.test.reports')]: extensionReports });
/** First line of an extension's source that defines `tell(value)`, which adds the value to `reports`. */
export const TELL_FUNCTION_SOURCE = `const tell = (value) => globalThis[Symbol.for('tenon.test.reports')].push(value);\n`;
