import { expect } from 'chai';
import { createPackageFolder, createPackageJson, type PackageFolder } from '../plugins/extensions/package-folder.ts';
import { createTestUserAccount, makeRole, type TestUserAccount } from '../plugins/users/test-users.ts';
import { startCountingServer } from '../support/counting-server.ts';
import { FIRST_ADMIN_CREDENTIALS, type InProcessService, startService } from '../support/service.ts';

// POST /act { service, method, args, options?, as? } calls one method of one service of the context.
const ENDPOINT = `export default { id: 'act', handler(router, { services, getSchema }) {
  router.get('/names', (req, res) => res.json(Object.keys(services).sort()));
  router.post('/', async (req, res, next) => {
    try {
      const { service, method, args = [], of, system } = req.body;
      const accountability = system ? null : req.accountability;
      const options = { accountability, schema: await getSchema() };
      const instance = of ? new services[service](of, options) : new services[service](options);
      const target = method.split('.').reduce(([, value], name) => [value, value[name]], [undefined, instance]);
      res.json({ value: (await target[1].call(target[0] ?? instance, ...args)) ?? null });
    } catch (error) { next(error); }
  });
} };`;

const NAMES = [
  ...['Activity', 'Authentication', 'Collections', 'Comments', 'Dashboards', 'Extensions', 'Fields', 'Files', 'Flows'],
  ...[
    'Export',
    'Folders',
    'Import',
    'Items',
    'Mail',
    'Meta',
    'Notifications',
    'Operations',
    'Panels',
    'Permissions',
    'Presets',
  ],
  ...[
    'Relations',
    'Revisions',
    'Roles',
    'Server',
    'Settings',
    'Shares',
    'Specification',
    'Translations',
    'Users',
    'Utils',
  ],
  // These say on construction why there is none.
  ...['Access', 'GraphQL', 'Payload', 'Policies', 'TFA', 'Versions', 'WebSocket'],
].map((name) => (name === 'GraphQL' ? 'GraphQLService' : `${name}Service`));

describe('services of code with full authority', function () {
  this.timeout(120_000);
  let place: PackageFolder;
  let service: InProcessService;
  let user: TestUserAccount;

  before(async () => {
    const manifest = { type: 'endpoint', path: 'dist/index.js', source: 'src/index.js', host: '^1.0.0' };
    place = await createPackageFolder({
      'service-extension-act/package.json': createPackageJson('service-extension-act', manifest),
      'service-extension-act/dist/index.js': ENDPOINT,
      'service-extension-act/src/index.js': ENDPOINT,
    });
    service = await startService({
      env: { EXTENSIONS_PATH: place.path, EMAIL_TRANSPORT: 'log', IMPORT_IP_ALLOW_LIST: '127.0.0.1' },
    });
    await service.database.query('create table pages (id serial primary key, title text, sort integer)');
    await service.request('PATCH', '/collections/pages', {
      token: service.admin.token,
      body: { meta: { sort_field: 'sort' } },
    });
    user = await createTestUserAccount(service, await makeRole(service));
  });
  after(async () => {
    await service?.stop();
    await place?.remove();
  });

  const call = (name: string, method: string, args: readonly unknown[] = [], more: object = {}, token?: string) =>
    service.request('POST', '/act', {
      token: token ?? service.admin.token,
      body: { service: `${name}Service`, method, args, ...more },
    });
  const value = async (...parts: Parameters<typeof call>) => {
    const { status, body } = await call(...parts);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.value;
  };
  const code = async (...parts: Parameters<typeof call>) => {
    const { status, body } = await call(...parts);
    return [status, body.errors?.[0]?.extensions?.code];
  };

  it('has every class of the conventions', async () => {
    const { body } = await service.request('GET', '/act/names', { token: service.admin.token });
    expect(body).to.include.members(NAMES);
  });

  it('UtilsService sorts and reverts with the permissions of the caller', async () => {
    const rows = [
      { title: 'a', sort: 1 },
      { title: 'b', sort: 2 },
    ];
    const [first, second] = await value('Items', 'createMany', [rows], { of: 'pages' });
    await value('Utils', 'sort', ['pages', { item: second, to: first }]);
    const order = await service.database.query('select title from pages order by sort');
    expect(order).to.deep.equal([{ title: 'b' }, { title: 'a' }]);
    expect(await code('Utils', 'sort', ['pages', { item: second, to: first }], {}, user.token)).to.deep.equal([
      403,
      'FORBIDDEN',
    ]);
    await value('Items', 'updateOne', [first, { title: 'changed' }], { of: 'pages' });
    const [{ id: revision }] = (await service.database.query(
      `select id from platform_revisions where collection = 'pages' and item = '${first}' order by id`,
    )) as [{ id: number }];
    await value('Utils', 'revert', [revision]);
    expect((await value('Items', 'readOne', [first], { of: 'pages' })).title).to.equal('a');
  });

  it('FilesService imports a file from a URL with the permissions of the caller', async () => {
    const server = await startCountingServer();
    try {
      const id = await value('Files', 'importOne', [`${server.url}/report.json`, { title: 'Report' }]);
      const { title, filename_download } = await value('Files', 'readOne', [id]);
      expect({ title, filename_download }).to.deep.equal({ title: 'Report', filename_download: 'report.json' });
      expect(await value('Files', 'importOne', [`${server.url}/again.json`, { id }])).to.equal(id);
      const asUser = ['Files', 'importOne', [`${server.url}/report.json`], {}, user.token] as const;
      expect(await code(...asUser)).to.deep.equal([403, 'FORBIDDEN']);
      expect(await code('Files', 'importOne', ['file:///etc/hostname'])).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect(server.requests).to.have.length(2);
    } finally {
      await server.stop();
    }
  });

  it('MetaService counts what the caller may read', async () => {
    const query = { meta: ['total_count', 'filter_count'], filter: { title: { _eq: 'b' } } };
    expect(await value('Meta', 'getMetaForQuery', ['pages', query])).to.deep.equal({ total_count: 2, filter_count: 1 });
    expect(await value('Meta', 'getMetaForQuery', ['pages', {}])).to.equal(null);
    expect(await code('Meta', 'getMetaForQuery', ['pages', query], {}, user.token)).to.deep.equal([403, 'FORBIDDEN']);
  });

  it('ServerService tells what the caller may know', async () => {
    expect(await value('Server', 'serverInfo')).to.include.keys('project', 'service');
    expect(await value('Server', 'serverInfo', [], {}, user.token)).to.not.have.property('service');
    expect(await value('Server', 'health')).to.include.keys('status', 'checks');
    expect(await value('Server', 'health', [], {}, user.token)).to.not.have.property('checks');
  });

  it('SpecificationService answers the GraphQL schema of the caller', async () => {
    expect(await value('Specification', 'graphql.generate', ['items'])).to.include('type pages');
    expect(await value('Specification', 'graphql.generate', ['items'], {}, user.token)).to.not.include('type pages');
  });

  it('SpecificationService answers the OpenAPI document of the caller', async () => {
    expect(await value('Specification', 'oas.generate')).to.have.nested.property('paths./items/pages');
    expect(await value('Specification', 'oas.generate', [], {}, user.token)).to.not.have.nested.property(
      'paths./items/pages',
    );
  });

  it('SchemaService answers, compares and applies snapshots for admins', async () => {
    const snapshot = await value('Schema', 'snapshot');
    expect(await value('Schema', 'diff', [snapshot])).to.equal(null);
    const fields = snapshot.fields.filter(({ field }: { field: string }) => field !== 'sort');
    const diff = await value('Schema', 'diff', [{ ...snapshot, fields }]);
    expect(diff.diff.fields).to.have.length(1);
    expect(await code('Schema', 'snapshot', [], {}, user.token)).to.deep.equal([403, 'FORBIDDEN']);
  });

  it('ImportService and ExportService act with the permissions of the caller', async () => {
    expect(await value('Export', 'exportToFile', ['pages', {}, 'json', {}])).to.be.a('string');
    expect(await code('Export', 'exportToFile', ['pages', {}, 'json', {}], {}, user.token)).to.deep.equal([
      403,
      'FORBIDDEN',
    ]);
    expect(await code('Import', 'import', ['pages', 'application/json', []], {}, user.token)).to.deep.equal([
      403,
      'FORBIDDEN',
    ]);
  });

  it('FlowsService, OperationsService and SharesService are the items of their collections', async () => {
    const flow = await value('Flows', 'createOne', [{ name: 'by code', trigger: 'manual' }]);
    const operation = await value('Operations', 'createOne', [{ flow, key: 'a', type: 'log', options: {} }]);
    expect((await value('Flows', 'readOne', [flow, { fields: ['operations'] }])).operations).to.deep.equal([operation]);
    const share = await value('Shares', 'createOne', [{ collection: 'pages', item: '1', name: 'a page' }]);
    expect((await value('Shares', 'readOne', [share])).collection).to.equal('pages');
    expect(await code('Flows', 'readByQuery', [{}], {}, user.token)).to.deep.equal([403, 'FORBIDDEN']);
  });

  it('ExtensionsService lists extensions for admins', async () => {
    const names = (await value('Extensions', 'readAll')).map(({ name }: { name: string }) => name);
    expect(names).to.include('service-extension-act');
    expect(await code('Extensions', 'readAll', [], {}, user.token)).to.deep.equal([403, 'FORBIDDEN']);
    expect(await value('Extensions', 'readAll', [], { system: true }, user.token)).to.be.an('array');
  });

  it('MailService sends a message, and refuses one without a recipient', async () => {
    const message = { to: 'ann@example.com', subject: 'Hello', text: 'There' };
    expect(await value('Mail', 'send', [message])).to.be.a('string');
    expect(await code('Mail', 'send', [{ subject: 'Hello', text: 'There' }])).to.deep.equal([400, 'INVALID_PAYLOAD']);
  });

  it('AuthenticationService signs in, refreshes and signs out', async () => {
    const { email, password } = FIRST_ADMIN_CREDENTIALS;
    const tokens = await value('Authentication', 'login', ['default', { email, password }]);
    expect(tokens).to.include.keys('accessToken', 'refreshToken', 'expires');
    const me = await service.request('GET', '/users/me', { token: tokens.accessToken });
    expect(me.status).to.equal(200);
    const next = await value('Authentication', 'refresh', [tokens.refreshToken]);
    await value('Authentication', 'logout', [next.refreshToken]);
    const WRONG = [401, 'INVALID_CREDENTIALS'];
    expect(await code('Authentication', 'refresh', [next.refreshToken])).to.deep.equal(WRONG);
    expect(await code('Authentication', 'login', ['default', { email, password: 'x' }])).to.deep.equal(WRONG);
    expect(await code('Authentication', 'verifyPassword', [me.body.data.id, 'x'])).to.deep.equal(WRONG);
    await value('Authentication', 'verifyPassword', [me.body.data.id, password]);
  });

  it('a class without a feature says so where it is made', async () => {
    expect(await code('Versions', 'readOne', [1])).to.deep.equal([500, 'INTERNAL_SERVER_ERROR']);
  });
});
