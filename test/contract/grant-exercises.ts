import { setTimeout as pause } from 'node:timers/promises';
import type { OpenIdServer } from '../support/openid-server.ts';
import type { SendRequest } from '../support/send.ts';
import { FIRST_ADMIN_CREDENTIALS } from '../support/service.ts';
import { exerciseSockets } from './exercise-sockets.ts';
import { OPTIONAL_FEATURES } from './optional-features.ts';

type Ask = (method: string, path: string, body?: unknown) => ReturnType<SendRequest>;

interface ExerciseDeps {
  readonly request: SendRequest;
  /** `request` as the first admin. */
  readonly ask: Ask;
  readonly token: string | undefined;
  /** URL of the service. */
  readonly own: string;
  /** URL of a server outside of the service. */
  readonly outside: string;
  readonly provider: OpenIdServer;
}

/** A PNG of one pixel in Base64. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Requests that use features, by the feature, in an order in which all of them can run. Answers are not checked: denials are in the ledger. */
const EXERCISES = {
  server: exerciseServer,
  provider: exerciseProvider,
  scim: exerciseScim,
  schema: exerciseSchema,
  sockets: ({ own, token }: ExerciseDeps) => exerciseSockets(own, token),
  flows: exerciseFlows,
  users: exerciseUsers,
  // Late, since uploads start worker processes for images.
  files: exerciseFiles,
  links: exerciseAccountLinks,
  extensions: exerciseExtensions,
} as const;

type Exercise = keyof typeof EXERCISES;

/** What uses most grants of a plugin. The others are tried only where these show no denial. */
const EXERCISES_OF_PLUGIN: Readonly<Record<string, readonly Exercise[]>> = {
  auth: ['extensions', 'schema', 'users'],
  'auth-openid': ['provider'],
  'auth-providers': ['provider'],
  collections: ['server', 'schema'],
  extensions: ['extensions'],
  'extensions-full': ['extensions'],
  files: ['schema', 'files'],
  flows: ['schema', 'flows'],
  graphql: ['server'],
  history: ['schema', 'users'],
  http: ['server', 'extensions'],
  'import-export': ['schema', 'files'],
  invitations: ['links'],
  items: ['schema', 'users', 'files'],
  mail: ['links'],
  notifications: ['schema', 'users', 'flows'],
  openapi: ['server'],
  'password-reset': ['links'],
  realtime: ['schema', 'sockets'],
  'realtime-logs': ['schema', 'sockets'],
  'realtime-rest': ['schema', 'sockets'],
  registration: ['links'],
  'row-feed': ['schema', 'sockets'],
  schema: ['schema', 'users'],
  scim: ['scim'],
  sessions: ['users'],
  settings: ['users'],
  shares: ['schema', 'users'],
  users: ['server', 'schema', 'users'],
};

/** The exercises for the plugin in this folder; undefined where none are known to use its grants. */
export const exercisesOfPlugin = (folder: string): readonly Exercise[] | undefined => EXERCISES_OF_PLUGIN[folder];

/** Sends the requests of these exercises; without a list of all. */
export async function exercise(
  deps: Pick<ExerciseDeps, 'request' | 'own' | 'outside' | 'provider'>,
  names: readonly Exercise[] = Object.keys(EXERCISES) as Exercise[],
): Promise<void> {
  const { request } = deps;
  const login = await request('POST', '/auth/login', { body: FIRST_ADMIN_CREDENTIALS });
  const token = login.body?.data?.access_token as string | undefined;
  const ask: Ask = (method, path, body) => request(method, path, { token, body });
  for (const name of names) await EXERCISES[name]({ ...deps, token, ask });
}

async function exerciseServer({ request, ask }: ExerciseDeps): Promise<void> {
  await request('GET', '/server/ping', { headers: { origin: 'http://example.com' } });
  await request('OPTIONS', '/items/things', {
    headers: { origin: 'http://example.com', 'access-control-request-method': 'GET' },
  });
  // The service imports the graphql package with the first document.
  await ask('POST', '/graphql/system', { query: '{ server_ping }' });
  await request('GET', '/server/specs/oas');
  await request('GET', '/server/specs/oas/page');
  await ask('POST', '/graphql/system', { query: '{ server_specs_oas }' });
}

async function exerciseExtensions({ request, ask }: ExerciseDeps): Promise<void> {
  await request('GET', '/server/info', { token: null, headers: { 'x-named': 'a caller' } });
  await request('GET', '/echo');
  await request('GET', '/nothing-at-all');
  await ask('GET', '/extensions');
  await ask('POST', '/extensions/reload', {});
}

/** Signs in by the provider twice: the first sign-in registers the user. */
async function exerciseProvider({ request, provider }: ExerciseDeps): Promise<void> {
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
async function exerciseScim({ request }: ExerciseDeps): Promise<void> {
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

async function exerciseSchema({ ask }: ExerciseDeps): Promise<void> {
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
async function exerciseFlows({ ask }: ExerciseDeps): Promise<void> {
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

async function exerciseFiles({ ask, request, token, outside }: ExerciseDeps): Promise<void> {
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

async function exerciseUsers({ ask, request }: ExerciseDeps): Promise<void> {
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
async function exerciseAccountLinks({ ask, request }: ExerciseDeps): Promise<void> {
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
