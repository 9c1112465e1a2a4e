import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { boot, type Kernel } from '#kernel/boot';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { type OpenIdServer, startOpenIdServer } from '../support/openid-server.ts';
import { readCorePluginFolders } from '../support/plugin-folders.ts';
import { createSender, type SendRequest } from '../support/send.ts';
import { createMigratedDatabase, FIRST_ADMIN_CREDENTIALS } from '../support/service.ts';
import { silentSettings } from '../support/test-plugins.ts';
import { exercise, exercisesOfPlugin } from './grant-exercises.ts';
import type { ManifestGrant } from './manifest-grants.ts';
import { OPTIONAL_FEATURES } from './optional-features.ts';

/** A refused use of a capability by `plugin`, in the words of the ledger or of the failed start. */
export interface CapabilityDenial {
  readonly plugin?: string;
  readonly detail: string;
}

/** The command of a plugin that uses a grant which no request uses, with its arguments. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  'account-commands': ['sessions:end', '--email', FIRST_ADMIN_CREDENTIALS.email],
  'extensions-full': ['extensions:run'],
  'schema-snapshots': ['schema:snapshot', '/dev/null', '--yes'],
  'auth-providers': ['auth:check', 'example', '--user', 'ann@example.com'],
  'two-factor': ['users:tfa-reset', FIRST_ADMIN_CREDENTIALS.email],
  utilities: ['count', 'platform_users'],
};

/** Whether migrations use the grant: the test then begins with an empty database, which shows the denial sooner. */
const isUsedByMigrations = ({ path: [section, name = ''] }: ManifestGrant): boolean =>
  (section === 'capabilities' && name === 'database') || (section === 'config' && name.startsWith('ADMIN_'));

/**
 * Uses features without the grant until one is denied: those that are known to use grants of the plugin, then every feature, and then every
 * feature on an empty database.
 */
export async function findDenialWithoutGrant(grant: ManifestGrant, url: URL): Promise<CapabilityDenial | undefined> {
  if (!isUsedByMigrations(grant)) {
    const { folder } = grant.plugin;
    const known = exercisesOfPlugin(folder) ?? (COMMANDS[folder] ? [] : undefined);
    const denial = known && (await denialOn(await createMigratedDatabase('grants'), grant, url, known));
    if (denial) return denial;
    const another = await denialOn(await createMigratedDatabase('grants'), grant, url);
    if (another) return another;
  }
  return denialOn(await freshDatabase('grants'), grant, url);
}

/**
 * Starts the product with the plugin as changed at `url`, and uses features until the plugin is denied something: those of these exercises,
 * without confined packages, whose runtime takes a second to start, or all.
 */
async function denialOn(
  database: FreshDatabase,
  { plugin, path }: ManifestGrant,
  url: URL,
  exercises?: Parameters<typeof exercise>[1],
): Promise<CapabilityDenial | undefined> {
  const data = await mkdtemp(join(tmpdir(), 'tenon-grants-'));
  const outside = await openServer();
  const provider = await startOpenIdServer();
  let kernel: Kernel | undefined;
  try {
    await putExtensions(join(data, 'extensions'), exercises === undefined);
    const key = path.at(-1) as string;
    const plugins = readCorePluginFolders()
      // Plugins that share the removed setting are left out: they cannot start when no plugin owns it.
      .filter(({ settings }) => path[0] !== 'config' || path[1] === 'shared' || !settings.shared.includes(key))
      .map(({ folder }) => (folder === plugin.folder ? url : new URL(`../../plugins/${folder}/`, import.meta.url)));
    kernel = await boot(
      { plugins },
      { environment: { ...environmentOf(data, provider), ...connectionOf(database.url, key) } },
    );
    await kernel.migrate();
    await kernel.start();
    const { port } = await kernel.listen();
    const address = (outside.address() as AddressInfo).port;
    const send = createSender(`http://127.0.0.1:${port}`);
    const untilDenied: SendRequest = async (...request) => {
      const reply = await send(...request);
      if (denialOf(kernel, plugin.name)) throw new Error('denied: the rest need not be tried');
      return reply;
    };
    const own = `http://127.0.0.1:${port}`;
    await exercise({ request: untilDenied, own, outside: `http://127.0.0.1:${address}`, provider }, exercises);
    const [command = '', ...args] = COMMANDS[plugin.folder] ?? [];
    const { commands } = kernel;
    await commands()
      .get(command)
      ?.run(args, async () => commands());
  } catch (error) {
    const { cause, detail, message } = error as { cause?: { code?: string }; detail?: string; message: string };
    if (cause?.code === 'CAPABILITY_DENIED') return { plugin: plugin.name, detail: detail ?? message };
    if (!denialOf(kernel, plugin.name)) throw error;
  } finally {
    await kernel?.stop();
    outside.close();
    await provider.stop();
    await rm(data, { recursive: true, force: true });
    await database.drop();
  }
  return denialOf(kernel, plugin.name);
}

function denialOf(kernel: Kernel | undefined, name: string): CapabilityDenial | undefined {
  const entry = kernel?.ledger.entries().find(({ kind, plugin }) => kind === 'denied' && plugin === name);
  return entry && { plugin: name, detail: `${name}: CAPABILITY_DENIED ${entry.what}` };
}

/** Database settings under which the service reads the setting `key`: a URL, its parts, or none for DATA_PATH. */
function connectionOf(url: string, key: string): Record<string, string> {
  if (key === 'DATA_PATH') return { SECRET: '' };
  if (!key.startsWith('DB_') || key === 'DB_CONNECTION_STRING') return { DB_CONNECTION_STRING: url };
  const { hostname, port, username, password, pathname } = new URL(url);
  return {
    DB_HOST: hostname,
    DB_PORT: port || '5432',
    DB_USER: decodeURIComponent(username),
    DB_PASSWORD: decodeURIComponent(password),
    DB_DATABASE: pathname.slice(1),
  };
}

const environmentOf = (data: string, { issuer, secret }: OpenIdServer) => ({
  ...silentSettings,
  ...OPTIONAL_FEATURES,
  DATA_PATH: data,
  EXTENSIONS_PATH: join(data, 'extensions'),
  PUBLIC_URL: 'http://127.0.0.1:8055',
  AUTH_EXAMPLE_ISSUER_URL: issuer,
  AUTH_EXAMPLE_CLIENT_SECRET: secret,
  AUTH_EXAMPLE_TRUST_SECOND_FACTOR: 'true',
  ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
  ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
  // The last one does not exist, which is a line of the log.
  HEALTHCHECK_SERVICES: 'pg,cache,rateLimiter,rateLimiterGlobal,storage,email,http,extensions,none',
  LOGIN_STALL_TIME: '1',
  REGISTER_STALL_TIME: '1',
  CORS_ENABLED: 'true',
  CORS_ORIGIN: 'true',
  HSTS_ENABLED: 'true',
  EMAIL_TRANSPORT: 'log',
  EMAIL_SMTP_HOST: '127.0.0.1',
  EMAIL_SES_REGION: 'eu-central-1',
  IMPORT_IP_ALLOW_LIST: '127.0.0.1',
  HASH_MEMORY_COST: '1024',
  HASH_TIME_COST: '2',
});

async function openServer(): Promise<Server> {
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/plain' }).end('x'),
  );
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return server;
}

/** Writes endpoints, operations and hooks, with full authority and, where wanted, confined, and packages that fail to load. */
async function putExtensions(folder: string, withConfined: boolean): Promise<void> {
  const halves = { app: 'app.js', api: 'index.js' };
  const confined = { runtime: 'confined-server', source: 'index.js' };
  const endpoint = (id: string) => `{ id: '${id}', handler: () => ({ body: '${id}' }) }`;
  const operation = (id: string) => `{ id: '${id}', handler: () => 1 }`;
  const packages: readonly (readonly [name: string, manifest: object, code: string])[] = [
    [
      'echo',
      { type: 'endpoint', path: 'index.js', ...confined, capabilities: { endpoint: { access: 'public' }, log: true } },
      endpoint('echo'),
    ],
    [
      'count',
      { type: 'operation', path: halves, ...confined, source: halves, capabilities: { log: true } },
      operation('count'),
    ],
    [
      'full',
      { type: 'endpoint', path: 'index.js' },
      `{ id: 'full', handler: (router) => router.get('/', (_q, r) => r.json({ links: globalThis.mailedLinks ?? [] })) }`,
    ],
    ['sum', { type: 'operation', path: halves }, operation('sum')],
    [
      'guard',
      { type: 'hook', path: 'index.js', ...confined, events: { filter: ['x.items.create'] }, required: true },
      '0',
    ],
    [
      'listener',
      { type: 'hook', path: 'index.js' },
      `({ action, filter }) => { action('response', () => {}); filter('request.not_found', () => false); filter('request.error', (errors) => errors); filter('authenticate', (named, { req }) => (req.headers['x-named'] ? { ...named, app: true } : named)); filter('websocket.authenticate', (named) => named); filter('email.send', (message) => void (globalThis.mailedLinks ??= []).push([message.to, message.template?.data?.url])); }`,
    ],
    ['later', { type: 'endpoint', path: 'index.js', host: '^99.0.0' }, endpoint('later')],
  ];
  for (const [id, manifest, code] of packages) {
    if ('runtime' in manifest && !withConfined) continue;
    const name = `service-extension-${id}`;
    await mkdir(join(folder, name), { recursive: true });
    const own = { host: '^1.0.0', ...manifest };
    const json = { name, version: '1.0.0', type: 'module', 'service:extension': own };
    await writeFile(join(folder, name, 'package.json'), JSON.stringify(json));
    await writeFile(join(folder, name, 'index.js'), `export default ${code};`);
    await writeFile(join(folder, name, 'app.js'), `export default { id: '${id}', name: 'A', options: [] };`);
  }
}
