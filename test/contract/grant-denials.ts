import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { boot, type Kernel } from '#kernel/boot';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { type OpenIdServer, startOpenIdServer } from '../support/openid-server.ts';
import { readCorePluginFolders } from '../support/plugin-folders.ts';
import { createSender, type SendRequest } from '../support/send.ts';
import { createMigratedDatabase, FIRST_ADMIN_CREDENTIALS } from '../support/service.ts';
import { silentSettings } from '../support/test-plugins.ts';
import { exerciseSockets } from './exercise-sockets.ts';
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
  'schema-snapshots': ['schema:snapshot', '/dev/null', '--yes'],
  'auth-providers': ['auth:check', 'example', '--user', 'ann@example.com'],
  'two-factor': ['users:tfa-reset', FIRST_ADMIN_CREDENTIALS.email],
};

/** A PNG of one pixel in Base64. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Whether migrations use the grant: the test then begins with an empty database, which shows the denial sooner. */
const isUsedByMigrations = ({ path: [section, name = ''] }: ManifestGrant): boolean =>
  (section === 'capabilities' && name === 'database') || (section === 'config' && name.startsWith('ADMIN_'));

/** Uses every feature without the grant: on a migrated database first and, if nothing is denied, on an empty one. */
export async function findDenialWithoutGrant(grant: ManifestGrant, url: URL): Promise<CapabilityDenial | undefined> {
  const migrated = isUsedByMigrations(grant) ? undefined : await createMigratedDatabase('grants');
  const denial = migrated && (await denialOn(migrated, grant, url));
  return denial ?? denialOn(await freshDatabase('grants'), grant, url);
}

/** Starts the product with the plugin as changed at `url`, and uses every feature until the plugin is denied something. */
async function denialOn(
  database: FreshDatabase,
  { plugin, path }: ManifestGrant,
  url: URL,
): Promise<CapabilityDenial | undefined> {
  const data = await mkdtemp(join(tmpdir(), 'tenon-grants-'));
  const outside = await openServer();
  const provider = await startOpenIdServer();
  let kernel: Kernel | undefined;
  try {
    await putExtensions(join(data, 'extensions'));
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
    await exerciseAll(
      untilDenied,
      { outside: `http://127.0.0.1:${address}`, own: `http://127.0.0.1:${port}` },
      provider,
    );
    const [command = '', ...args] = COMMANDS[plugin.folder] ?? [];
    await kernel.commands.get(command)?.run(args);
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

/** Writes endpoints, operations and hooks, confined and with full authority, and packages that fail to load. */
async function putExtensions(folder: string): Promise<void> {
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
      `({ action, filter }) => { action('response', () => {}); filter('request.not_found', () => false); filter('request.error', (errors) => errors); filter('authenticate', (named, { req }) => (req.headers['x-named'] ? { ...named, app: true } : named)); filter('email.send', (message) => void (globalThis.mailedLinks ??= []).push([message.to, message.template?.data?.url])); }`,
    ],
    ['later', { type: 'endpoint', path: 'index.js', host: '^99.0.0' }, endpoint('later')],
  ];
  for (const [id, manifest, code] of packages) {
    const name = `service-extension-${id}`;
    await mkdir(join(folder, name), { recursive: true });
    const own = { host: '^1.0.0', ...manifest };
    const json = { name, version: '1.0.0', type: 'module', 'service:extension': own };
    await writeFile(join(folder, name, 'package.json'), JSON.stringify(json));
    await writeFile(join(folder, name, 'index.js'), `export default ${code};`);
    await writeFile(join(folder, name, 'app.js'), `export default { id: '${id}', name: 'A', options: [] };`);
  }
}

/** Sends requests that use every feature. Their answers are not checked, since denials are found in the ledger. */
async function exerciseAll(
  request: SendRequest,
  { outside, own }: { readonly outside: string; readonly own: string },
  provider: OpenIdServer,
): Promise<void> {
  const login = await request('POST', '/auth/login', { body: FIRST_ADMIN_CREDENTIALS });
  const token = login.body?.data?.access_token as string | undefined;
  const ask = (method: string, path: string, body?: unknown) => request(method, path, { token, body });
  await request('GET', '/server/ping', { headers: { origin: 'http://example.com' } });
  await request('OPTIONS', '/items/things', {
    headers: { origin: 'http://example.com', 'access-control-request-method': 'GET' },
  });
  // The service imports the graphql package with the first document.
  await ask('POST', '/graphql/system', { query: '{ server_ping }' });
  await request('GET', '/server/specs/oas');
  await request('GET', '/server/specs/oas/page');
  await ask('POST', '/graphql/system', { query: '{ server_specs_oas }' });
  await exerciseProvider(request, provider);
  await exerciseScim(request);
  await exerciseSchema(ask);
  await exerciseSockets(own, token);
  await exerciseFlows(ask);
  await exerciseUsers(ask, request);
  // After the other features, since uploads start worker processes for images and so take longest.
  await exerciseFiles(ask, request, token, outside);
  await exerciseAccountLinks(ask, request);
  await request('GET', '/echo');
  await request('GET', '/nothing-at-all');
  await request('GET', '/server/info', { token: null, headers: { 'x-named': 'a caller' } });
  await ask('GET', '/extensions');
  await ask('POST', '/extensions/reload', {});
}

/** Signs in by the provider twice: the first sign-in registers the user. */
async function exerciseProvider(request: SendRequest, provider: OpenIdServer): Promise<void> {
  provider.user = { sub: 'ann', email: 'ann@example.com' };
  for (let count = 0; count < 2; count++) {
    const begin = await request('GET', '/auth/login/example');
    const redirect = await fetch(begin.headers.get('location') ?? '', { redirect: 'manual' });
    const callback = new URL(redirect.headers.get('location') ?? '');
    const cookie = begin.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    await request('GET', `${callback.pathname}${callback.search}`, { headers: { cookie } });
    // The second use is refused.
    await request('GET', `${callback.pathname}${callback.search}`, { headers: { cookie } });
  }
  await request('POST', '/auth/login/example/backchannel-logout', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams({ logout_token: provider.signLogoutToken({ sub: 'ann' }) })),
  });
}

/** Manages a user and a group as the provider does. */
async function exerciseScim(request: SendRequest): Promise<void> {
  const send = (method: string, path: string, kind?: string, body: object = {}) =>
    request(method, `/scim/v2${path}`, {
      token: OPTIONAL_FEATURES.AUTH_EXAMPLE_SCIM_TOKEN,
      body: kind && { schemas: [`urn:ietf:params:scim:${kind}`], ...body },
    });
  const user = (await send('POST', '/Users', 'schemas:core:2.0:User', { userName: 'managed' })).body?.id;
  await send('POST', '/Groups', 'schemas:core:2.0:Group', { displayName: 'g', members: [{ value: user }] });
  await send('GET', '/Groups');
  const Operations = [{ op: 'replace', path: 'title', value: 'x' }];
  await send('PATCH', `/Users/${user}`, 'api:messages:2.0:PatchOp', { Operations });
  await send('DELETE', `/Users/${user}`);
}

type Ask = (method: string, path: string, body?: unknown) => ReturnType<SendRequest>;

async function exerciseSchema(ask: Ask): Promise<void> {
  const key = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
  for (const collection of ['things', 'parts'])
    await ask('POST', '/collections', { collection, schema: {}, meta: {}, fields: [key] });
  await ask('PATCH', '/collections/things', { meta: { note: 'x' } });
  await ask('POST', '/fields/parts', { field: 'thing', type: 'integer' });
  await ask('POST', '/fields/things', { field: 'name', type: 'string' });
  await ask('PATCH', '/fields/things/name', { meta: { note: 'x' } });
  await ask('POST', '/relations', { collection: 'parts', field: 'thing', related_collection: 'things' });
  await ask('PATCH', '/relations/parts/thing', { meta: { sort_field: null } });
  await ask('POST', '/items/things', { name: 'one' });
  await ask('GET', '/items/things?fields=*.*');
  await ask('POST', '/comments', { collection: 'things', item: '1', comment: 'plain' });
}

/** Runs a flow whose operations write without a user, one of them so that other flows are triggered. */
async function exerciseFlows(ask: Ask): Promise<void> {
  const flow = (await ask('POST', '/flows', { name: 'f', trigger: 'webhook', options: { method: 'POST' } })).body?.data
    ?.id;
  const options = { collection: 'things', payload: { name: 'by a flow' }, permissions: '$full' };
  let resolve: string | undefined;
  for (const emitEvents of [true, false]) {
    const operation = {
      flow,
      key: `create ${emitEvents}`,
      type: 'item-create',
      options: { ...options, emitEvents },
      resolve,
    };
    resolve = (await ask('POST', '/operations', operation)).body?.data?.id;
  }
  await ask('PATCH', `/flows/${flow}`, { operation: resolve });
  await ask('POST', `/flows/trigger/${flow}`, {});
  await ask('POST', `/flows/${flow}/try`, {});
  await exerciseParking(ask);
}

/** A flow that fails is switched off by the service. */
async function exerciseParking(ask: Ask): Promise<void> {
  const options = { type: 'action', scope: ['items.create'], collections: ['things'], parkAfterFailures: 1 };
  const flow = (await ask('POST', '/flows', { name: 'failing', trigger: 'event', options })).body?.data?.id;
  const operation = (await ask('POST', '/operations', { flow, key: 'no', type: 'throw-error', options: {} })).body?.data
    ?.id;
  await ask('PATCH', `/flows/${flow}`, { operation });
  await ask('POST', '/items/things', { name: 'two' });
  for (let time = 0; time < 500; time++) {
    if ((await ask('GET', `/flows/${flow}`)).body?.data?.status !== 'active') return;
    await pause(20);
  }
}

async function exerciseFiles(
  ask: Ask,
  request: SendRequest,
  token: string | undefined,
  outside: string,
): Promise<void> {
  const upload = (names: readonly string[], type = 'image/png') => {
    const form = new FormData();
    for (const name of names) form.append('file', new Blob([Buffer.from(PNG, 'base64')], { type }), name);
    return form;
  };
  const file = await request('POST', '/files', { token, body: upload(['a.png']) });
  // The second file is sent with a folder that does not exist: the service fails and deletes the first file again.
  const broken = upload(['b.png']);
  broken.append('folder', '00000000-0000-4000-8000-000000000000');
  broken.append('file', new Blob(['x']), 'c.txt');
  await request('POST', '/files', { token, body: broken });
  await ask('POST', '/files/import', { url: `${outside}/a.txt`, data: { id: file.body?.data?.id } });
  await ask('GET', `/assets/${file.body?.data?.id}?width=1`);
  await ask('DELETE', `/files/${file.body?.data?.id}`);
  const rows = new FormData();
  rows.append('file', new Blob(['name\nimported\n'], { type: 'text/csv' }), 'rows.csv');
  await request('POST', '/utils/import/things', { token, body: rows });
  await ask('POST', '/utils/export/things', { query: {}, format: 'csv' });
}

async function exerciseUsers(ask: Ask, request: SendRequest): Promise<void> {
  const role = (await ask('POST', '/roles', { name: 'writers', app_access: true })).body?.data?.id;
  const permit = (collection: string, action: string) =>
    ask('POST', '/permissions', { role, collection, action, fields: ['*'], permissions: {} });
  for (const action of ['update', 'delete']) await permit('things', action);
  await permit('platform_comments', 'create');
  await permit('platform_users', 'read');
  const who = { email: 'writer@example.com', password: 'correct horse battery' };
  const user = (await ask('POST', '/users', { ...who, role })).body?.data?.id;
  const signedIn = (await request('POST', '/auth/login', { body: who })).body?.data;
  const token = signedIn?.access_token;
  // The second use of a refresh token ends its session, and the service notifies the user.
  const refresh = { refresh_token: signedIn?.refresh_token };
  for (let time = 0; time < 2; time++) await request('POST', '/auth/refresh', { body: refresh });
  await request('PATCH', '/items/things', { token, body: { keys: [1], data: { name: 'two' } } });
  await request('PATCH', '/items/things/1', { token, body: { name: 'three' } });
  // The service notifies mentioned users of a comment only if they may read the item, and mails the notification.
  await permit('things', 'read');
  await ask('POST', '/comments', { collection: 'things', item: '1', comment: `hello @${user}` });
  const share = (await ask('POST', '/shares', { collection: 'things', item: 1, role })).body?.data?.id;
  const visitor = (await request('POST', '/shares/auth', { body: { share } })).body?.data?.access_token;
  await request('GET', '/items/things', { token: visitor });
  await ask('PATCH', '/settings', { project_name: 'x' });
  await ask('PATCH', `/users/${user}`, { status: 'suspended' });
  await ask('DELETE', `/users/${user}`);
  await ask('DELETE', '/relations/parts/thing');
  await ask('DELETE', '/fields/things/name');
  await ask('DELETE', '/collections/things');
}

/** Registers, invites and resets, and opens the links of the mails, which the package `full` lists. */
async function exerciseAccountLinks(ask: Ask, request: SendRequest): Promise<void> {
  const password = 'correct horse battery';
  const post = (path: string, body: object) => request('POST', path, { body });
  const tokenFor = async (email: string, page: string): Promise<string> => {
    for (let tries = 0; tries < 100; tries++) {
      const { body } = await request('GET', '/full');
      const links: readonly [to: string, url?: string][] = body?.links ?? [];
      const url = links.findLast(([to, one]) => to === email && one?.includes(page))?.[1];
      if (url !== undefined) return new URL(url).searchParams.get('token') ?? '';
      await pause(100);
    }
    return '';
  };
  const [role, other] = [
    (await ask('POST', '/roles', { name: 'invited' })).body?.data?.id,
    (await ask('POST', '/roles', { name: 'invited again' })).body?.data?.id,
  ];
  await ask('PATCH', '/settings', { public_registration: true });
  await post('/users/register', { email: 'registered@example.com', password });
  const confirmation = await tokenFor('registered@example.com', 'verify-email');
  await request('GET', `/users/register/verify-email?token=${confirmation}`);
  for (const one of [role, other]) await ask('POST', '/users/invite', { email: 'invited@example.com', role: one });
  await post('/users/invite/accept', { token: await tokenFor('invited@example.com', 'accept-invite'), password });
  await post('/auth/password/request', { email: 'invited@example.com' });
  await post('/auth/password/reset', { token: await tokenFor('invited@example.com', 'reset-password'), password });
}
