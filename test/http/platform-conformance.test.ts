import { expect } from 'chai';
import { createTestUserAccount, makeRole, statusAndCodeOf } from '../plugins/users/test-users.ts';
import { type HttpReply, type InProcessService, startService } from '../support/service.ts';
import { createSharer, createVisitor } from './share-fixture.ts';

// Every row of the tables "Settings endpoints", "Server endpoints" and "Utility endpoints" of the specification, by kind of caller.

type Kind = 'anonymous' | 'user' | 'editor' | 'visitor' | 'admin';
const KINDS: readonly Kind[] = ['anonymous', 'user', 'editor', 'visitor', 'admin'];
type Outcome = readonly [status: number, code?: string];

const OK: Outcome = [200];
const FORBIDDEN: Outcome = [403, 'FORBIDDEN'];
const MISSING: Outcome = [404, 'ROUTE_NOT_FOUND'];
const INVALID_PAYLOAD: Outcome = [400, 'INVALID_PAYLOAD'];
const INVALID_QUERY: Outcome = [400, 'INVALID_QUERY'];

const same = (outcome: Outcome): Record<Kind, Outcome> =>
  Object.fromEntries(KINDS.map((kind) => [kind, outcome])) as Record<Kind, Outcome>;
const adminOnly = (outcome: Outcome, others: Outcome = FORBIDDEN) => ({ ...same(others), admin: outcome });
/** For those with permissions on the collection of the test: the editor and the admin. */
const withPermission = (outcome: Outcome) => ({ ...same(FORBIDDEN), editor: outcome, admin: outcome });

interface Row {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** JSON that is sent as a file. */
  readonly rows?: string;
  readonly expected: Record<Kind, Outcome>;
  /** Says more about an answer of 2xx. */
  readonly check?: (reply: HttpReply, kind: Kind) => void;
}

const isText = ({ body }: HttpReply) => expect(body.data).to.be.a('string');
const isEmpty = ({ body }: HttpReply) => expect(body).to.equal(undefined);

const PROJECT = [
  'custom_css',
  'default_language',
  'project_color',
  'project_descriptor',
  'project_logo',
  'project_name',
  'public_background',
  'public_foreground',
  'public_note',
] as const;

const SETTINGS: readonly Row[] = [
  { method: 'GET', path: '/settings', expected: { ...adminOnly(OK), editor: OK }, check: isRecord },
  {
    method: 'PATCH',
    path: '/settings',
    body: { project_name: 'Conformance' },
    expected: adminOnly(OK),
    check: ({ body }) => expect(body.data.project_name).to.equal('Conformance'),
  },
  { method: 'PATCH', path: '/settings', body: { no_such_field: 1 }, expected: adminOnly(INVALID_PAYLOAD) },
  { method: 'PATCH', path: '/settings', body: [], expected: adminOnly(INVALID_PAYLOAD, INVALID_PAYLOAD) },
  { method: 'POST', path: '/settings', body: {}, expected: same(MISSING) },
  { method: 'DELETE', path: '/settings', expected: same(MISSING) },
];

const SERVER: readonly Row[] = [
  {
    method: 'GET',
    path: '/server/info',
    expected: same(OK),
    check({ body: { data } }, kind) {
      expect(data.project).to.include.keys(...PROJECT);
      const isUser = kind !== 'anonymous' && kind !== 'visitor';
      const members = [
        'project',
        ...(isUser ? ['rateLimit', 'rateLimitGlobal', 'websocket'] : []),
        ...(kind === 'anonymous' ? [] : ['queryLimit']),
        ...(kind === 'admin' ? ['service'] : []),
      ];
      expect(Object.keys(data)).to.have.members(members);
      if (kind !== 'anonymous') expect(data.queryLimit).to.deep.equal({ default: 100, max: -1 });
      if (kind === 'admin') expect(data.service.version).to.be.a('string');
    },
  },
  {
    method: 'GET',
    path: '/server/health',
    expected: same(OK),
    check({ body, headers }, kind) {
      expect(headers.get('content-type')).to.include('application/health+json');
      expect(headers.get('cache-control')).to.include('no-store');
      expect(body.status).to.be.oneOf(['ok', 'warn']);
      expect('checks' in body).to.equal(kind === 'admin');
    },
  },
  { method: 'GET', path: '/server/ping', expected: same(OK), check: ({ body }) => expect(body).to.equal('pong') },
  {
    method: 'GET',
    path: '/server/specs/graphql',
    expected: same(OK),
    check: ({ headers }) => expect(headers.get('content-disposition')).to.match(/^attachment; filename=.*\.graphql/),
  },
  { method: 'GET', path: '/server/specs/graphql/items', expected: same(OK) },
  { method: 'GET', path: '/server/specs/graphql/system', expected: same(OK) },
  {
    method: 'GET',
    path: '/server/specs/oas',
    expected: same(OK),
    // Tags of collections by the caller's permission to read, all others always.
    check({ body }, kind) {
      expect(body.openapi).to.match(/^3\.1\./);
      const isReader = kind === 'editor' || kind === 'visitor' || kind === 'admin';
      expect('/items/diary' in body.paths).to.equal(isReader);
      expect(body.paths).to.include.keys('/server/info', '/utils/random/string', '/auth/login', '/extensions');
    },
  },
  { method: 'GET', path: '/server/specs/graphql/other', expected: same(MISSING) },
];

const UTILITIES: readonly Row[] = [
  { method: 'GET', path: '/utils/random/string', expected: same(OK), check: ({ body }) => has(body.data, 32) },
  {
    method: 'GET',
    path: '/utils/random/string?length=500',
    expected: same(OK),
    check: ({ body }) => has(body.data, 500),
  },
  { method: 'GET', path: '/utils/random/string?length=501', expected: same(INVALID_QUERY) },
  { method: 'GET', path: '/utils/random/string?length=x', expected: same(INVALID_QUERY) },
  { method: 'POST', path: '/utils/hash/generate', body: { string: 'a' }, expected: same(OK), check: isText },
  { method: 'POST', path: '/utils/hash/generate', body: {}, expected: same(INVALID_PAYLOAD) },
  { method: 'POST', path: '/utils/hash/verify', body: { string: 'a' }, expected: same(INVALID_PAYLOAD) },
  { method: 'POST', path: '/utils/hash/verify', body: { string: 'a', hash: 'b' }, expected: same(INVALID_PAYLOAD) },
  { method: 'POST', path: '/utils/sort/diary', body: { item: 2, to: 1 }, expected: withPermission(OK), check: isEmpty },
  { method: 'POST', path: '/utils/sort/diary', body: { item: 2 }, expected: same(INVALID_PAYLOAD) },
  { method: 'POST', path: '/utils/sort/diary', body: { item: 2, to: 99 }, expected: same(FORBIDDEN) },
  { method: 'POST', path: '/utils/sort/nothing', body: { item: 2, to: 1 }, expected: adminOnly(MISSING) },
  { method: 'POST', path: '/utils/revert/1', expected: withPermission([204]), check: isEmpty },
  { method: 'POST', path: '/utils/revert/999999', expected: same(FORBIDDEN) },
  {
    method: 'POST',
    path: '/utils/export/diary',
    body: { query: {}, format: 'json' },
    expected: withPermission([204]),
  },
  { method: 'POST', path: '/utils/export/diary', body: { format: 'json' }, expected: same(INVALID_PAYLOAD) },
  {
    method: 'POST',
    path: '/utils/export/diary',
    body: { query: { limit: -2 }, format: 'json' },
    expected: { ...same(INVALID_QUERY), visitor: FORBIDDEN },
  },
  {
    method: 'POST',
    path: '/utils/export/diary',
    body: { query: {}, format: 'pdf' },
    expected: same(INVALID_PAYLOAD),
  },
  {
    method: 'POST',
    path: '/utils/import/diary',
    rows: '[{"words":"third"}]',
    expected: withPermission(OK),
    check: isEmpty,
  },
  { method: 'POST', path: '/utils/import/diary', rows: '[{"words":', expected: withPermission(INVALID_PAYLOAD) },
  { method: 'POST', path: '/utils/import/platform_users', rows: '[]', expected: adminOnly(OK), check: isEmpty },
  { method: 'POST', path: '/utils/cache/clear', expected: adminOnly(OK), check: isEmpty },
  { method: 'GET', path: '/utils/cache/clear', expected: same(MISSING) },
];

function isRecord({ body }: HttpReply) {
  expect(body.data).to.include.keys('project_name', 'default_language');
}
function toForm(rows: string): FormData {
  const form = new FormData();
  form.set('file', new Blob([rows], { type: 'application/json' }), 'rows.json');
  return form;
}

const has = (text: string, length: number) => expect(text).to.have.length(length);

describe('settings, server and utilities', function () {
  this.timeout(120_000);
  let service: InProcessService;
  const tokens = {} as Record<Kind, string | null>;

  before(async () => {
    service = await startService();
    await service.database.query('create table diary (id serial primary key, words text, sort integer)');
    const admin = (method: string, path: string, body: unknown) =>
      service.request(method, path, { token: service.admin.token, body });
    await admin('PATCH', '/collections/diary', { meta: { sort_field: 'sort' } });
    await admin('POST', '/items/diary', [
      { words: 'first', sort: 1 },
      { words: 'second', sort: 2 },
    ]);
    await service.database.query("update platform_revisions set id = 1 where collection = 'diary' and item = '1'");
    const permissions = ['create', 'read', 'update'].map((action) => ({ collection: 'diary', action, fields: ['*'] }));
    const history = { collection: 'platform_revisions', action: 'read', fields: ['*'] };
    const uploads = { collection: 'platform_files', action: 'create', fields: ['*'] };
    const editor = await makeRole(service, { app_access: true }, [...permissions, history, uploads]);
    const sharer = await createSharer(service, [{ collection: 'diary', action: 'read' }]);
    tokens.anonymous = null;
    tokens.user = (await createTestUserAccount(service, await makeRole(service))).token;
    tokens.editor = (await createTestUserAccount(service, editor)).token;
    tokens.visitor = (await createVisitor(service, { role: sharer.role, collection: 'diary', item: '1' })).token;
    tokens.admin = service.admin.token;
  });
  after(() => service?.stop());

  for (const [table, rows] of Object.entries({ settings: SETTINGS, server: SERVER, utilities: UTILITIES }))
    describe(table, () => {
      for (const { method, path, body, rows: file, expected, check } of rows)
        it(`${method} ${path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}${file ?? ''} answers each kind of caller`, async () => {
          const found: Record<string, unknown> = {};
          for (const kind of KINDS) {
            const reply = await service.request(method, path, {
              token: tokens[kind],
              ...(body === undefined ? {} : { body }),
              ...(file === undefined ? {} : { body: toForm(file) }),
            });
            const [status, code] = statusAndCodeOf(reply);
            found[kind] = code === undefined ? [status] : [status, code];
            if (reply.status < 300) check?.(reply, kind);
          }
          expect(found).to.deep.equal(expected);
        });
    });
});
