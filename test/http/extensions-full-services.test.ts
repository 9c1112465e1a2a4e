import { expect } from 'chai';
import { parse } from 'graphql';
import { Secret, TOTP } from 'otpauth';
import sharp from 'sharp';
import { createPackageFolder, createPackageJson, type PackageFolder } from '../plugins/extensions/package-folder.ts';
import { createTestUserAccount, makeRole, type TestUserAccount } from '../plugins/users/test-users.ts';
import { startCountingServer } from '../support/counting-server.ts';
import { FIRST_ADMIN_CREDENTIALS, type InProcessService, startService } from '../support/service.ts';

/** Four pixels. */
const PNG = await sharp({ create: { width: 4, height: 1, channels: 3, background: 'red' } })
  .png()
  .toBuffer();

// POST /act { service, method, args, options?, as? } calls one method of one service of the context.
const ENDPOINT = `export default { id: 'act', handler(router, { services, getSchema }) {
  router.get('/names', (req, res) => res.json(Object.keys(services).sort()));
  router.post('/', async (req, res, next) => {
    try {
      const { service, method, args = [], of, system, scope } = req.body;
      const accountability = system ? null : req.accountability;
      const options = { accountability, schema: await getSchema() };
      if (scope) options.scope = scope;
      const instance = of ? new services[service](of, options) : new services[service](options);
      const target = method.split('.').reduce(([, value], name) => [value, value[name]], [undefined, instance]);
      let value = (await target[1].call(target[0] ?? instance, ...args)) ?? null;
      if (value?.stream) {
        const bytes = Buffer.concat(await value.stream.toArray());
        value = { ...value, stream: undefined, text: bytes.toString('latin1'), size: bytes.length };
      }
      res.json({ value });
    } catch (error) { next(error); }
  });
} };`;

/** A call of each class: what it answers an admin and code without accountability, and a user without permissions (default: FORBIDDEN). */
interface ServiceCall {
  readonly service: string;
  readonly method: string;
  readonly args?: readonly unknown[] | ((keys: { readonly user: string; readonly file: string }) => readonly unknown[]);
  readonly of?: string;
  readonly user?: 'allowed';
}

const COLLECTION_SERVICES = [
  ...['Activity', 'Comments', 'Dashboards', 'Files', 'Flows', 'Folders', 'Notifications', 'Operations', 'Panels'],
  ...['Permissions', 'Presets', 'Revisions', 'Roles', 'Shares', 'Translations', 'Users'],
];

const CALLS: readonly ServiceCall[] = [
  ...COLLECTION_SERVICES.map((service) => ({ service, method: 'readByQuery', args: [{ limit: 1 }] })),
  { service: 'Assets', method: 'getAsset', args: ({ file }) => [file] },
  {
    service: 'Authentication',
    method: 'login',
    args: ['default', FIRST_ADMIN_CREDENTIALS],
    user: 'allowed',
  },
  { service: 'Collections', method: 'readByQuery' },
  { service: 'Export', method: 'exportToFile', args: ['pages', {}, 'json', {}] },
  { service: 'Extensions', method: 'readAll' },
  { service: 'Fields', method: 'readAll' },
  { service: 'GraphQL', method: 'execute', args: [{ document: '{ __typename }' }], user: 'allowed' },
  { service: 'Import', method: 'import', args: ['pages', 'application/json', ['[]']] },
  { service: 'Items', method: 'readByQuery', of: 'pages' },
  { service: 'Mail', method: 'send', args: [{ to: 'ann@example.com', subject: 'Hello', text: 'x' }], user: 'allowed' },
  { service: 'Meta', method: 'getMetaForQuery', args: ['pages', { meta: ['total_count'] }] },
  { service: 'Relations', method: 'readAll' },
  { service: 'Schema', method: 'snapshot' },
  { service: 'Server', method: 'serverInfo', user: 'allowed' },
  { service: 'Settings', method: 'readSingleton' },
  { service: 'Specification', method: 'oas.generate', user: 'allowed' },
  { service: 'TFA', method: 'generateTFA', args: ({ user }) => [user] },
  { service: 'Utils', method: 'sort', args: ['pages', { item: 1, to: 1 }] },
];

/** Classes that say on construction why there is none. */
const ABSENT = ['Access', 'Payload', 'Policies', 'Versions', 'WebSocket'];

describe('services of code with full authority', function () {
  this.timeout(120_000);
  let place: PackageFolder;
  let service: InProcessService;
  let user: TestUserAccount;
  let file: string;

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
    await service.database.query("insert into pages (title, sort) values ('first', 0)");
    const form = new FormData();
    form.set('file', new Blob([PNG], { type: 'image/png' }), 'a.png');
    const uploaded = await fetch(`${service.url}/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.admin.token}` },
      body: form,
    });
    file = ((await uploaded.json()) as { data: { id: string } }).data.id;
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

  /** How often the package has acted without accountability. */
  const systemCalls = async () => {
    const { body } = await service.request('GET', '/extensions/audit', { token: service.admin.token });
    const own = (body.data.did as { kind: string; plugin: string; count: number }[]).filter(
      ({ kind, plugin }) => kind === 'system' && plugin.startsWith('service-extension-act'),
    );
    return own.reduce((sum, { count }) => sum + count, 0);
  };

  it('is called below in each class that there is', async () => {
    const { body } = await service.request('GET', '/act/names', { token: service.admin.token });
    const called = [...new Set([...CALLS.map((call) => call.service), ...ABSENT])].map((name) => `${name}Service`);
    expect(body).to.deep.equal(called.sort());
  });

  for (const { service: name, method, args = [], user: ofUser = 'FORBIDDEN', ...more } of CALLS) {
    const parameters = () => (typeof args === 'function' ? args({ user: user.id, file }) : args);

    it(`${name}Service.${method} acts as an admin, and as the system without accountability`, async () => {
      await value(name, method, parameters(), more);
      const before = await systemCalls();
      await value(name, method, parameters(), { ...more, system: true }, user.token);
      expect(await systemCalls()).to.equal(before + 1);
    });

    it(`${name}Service.${method} acts with the permissions of a user: ${ofUser}`, async () => {
      const before = await systemCalls();
      expect(await code(name, method, parameters(), more, user.token)).to.deep.equal(
        ofUser === 'allowed' ? [200, undefined] : [403, 'FORBIDDEN'],
      );
      expect(await systemCalls()).to.equal(before);
    });
  }

  for (const name of ABSENT)
    it(`${name}Service says on construction why there is none`, async () => {
      expect(await code(name, 'readOne', [1])).to.deep.equal([500, 'INTERNAL_SERVER_ERROR']);
    });

  describe('GraphQLService', () => {
    const execute = (params: object, scope: string, token?: string) =>
      value('GraphQL', 'execute', [params], { scope }, token);

    it('reads and writes with the permissions of the caller', async () => {
      const document = 'mutation m($title: String) { create_pages_item(data: { title: $title }) { title } }';
      const { data } = await execute({ document, variables: { title: 'by code' }, operationName: 'm' }, 'items');
      expect(data).to.deep.equal({ create_pages_item: { title: 'by code' } });
      const read = '{ pages(filter: { title: { _eq: "by code" } }) { title } }';
      expect(await execute({ document: read }, 'items')).to.deep.equal({ data: { pages: [{ title: 'by code' }] } });
      expect(await code('GraphQL', 'execute', [{ document: read }], { scope: 'items' }, user.token)).to.deep.equal([
        400,
        'GRAPHQL_VALIDATION_EXCEPTION',
      ]);
      await service.database.query("delete from pages where title = 'by code'");
    });

    it('takes a parsed document, and answers a list of any length', async () => {
      const document = parse('{ pages(filter: { title: { _eq: "many" } }, limit: -1) { id } }');
      await service.database.query("insert into pages (title) select 'many' from generate_series(1, 2000)");
      const { data } = await execute({ document }, 'items');
      expect(data.pages).to.have.length(2000);
      await service.database.query("delete from pages where title = 'many'");
    });

    it('answers system collections, and the schema of the caller', async () => {
      const document = `{ users_by_id(id: "${user.id}") { email } }`;
      expect(await execute({ document }, 'system')).to.deep.equal({ data: { users_by_id: { email: user.email } } });
      expect(await value('GraphQL', 'getSchema', ['sdl'], { scope: 'system' })).to.include('type platform_users');
    });

    it('refuses a field that answers requests of clients only, and what is no document', async () => {
      const document = 'mutation { auth_logout(refresh_token: "x") }';
      const { errors } = await execute({ document }, 'system');
      expect(errors[0].message).to.equal('This field answers requests of clients only.');
      for (const wrong of [{}, { document: 7 }, { document: { kind: 'none' } }, { document: '{' }])
        expect(await code('GraphQL', 'execute', [wrong]), JSON.stringify(wrong)).to.deep.equal([
          400,
          'INVALID_PAYLOAD',
        ]);
    });
  });

  describe('AssetsService', () => {
    it('answers the bytes of a file, a range of them, and a transformed image', async () => {
      const whole = await value('Assets', 'getAsset', [file]);
      expect(whole.file).to.include({ id: file, filename_download: 'a.png', type: 'image/png' });
      expect([whole.stat.size, whole.size]).to.deep.equal([PNG.length, PNG.length]);
      expect((await value('Assets', 'getAsset', [file, undefined, { start: 1, end: 3 }])).text).to.equal('PNG');
      const params = { transformationParams: { format: 'webp', width: 2 } };
      const webp = await value('Assets', 'getAsset', [file, params]);
      expect([webp.file.type, webp.text.slice(8, 12)]).to.deep.equal(['image/webp', 'WEBP']);
      const avif = await value('Assets', 'getAsset', [
        file,
        { transformationParams: { format: 'auto' }, acceptFormat: 'avif' },
      ]);
      expect(avif.file.type).to.equal('image/avif');
    });

    for (const [what, args, expected] of [
      ['a range outside of the file', [undefined, { start: 100_000, end: 100_001 }], [400, 'INVALID_PAYLOAD']],
      ['a range that is none', [undefined, { start: 'a' }], [400, 'INVALID_PAYLOAD']],
      ['a transformation that is none', [{ width: -1 }], [400, 'INVALID_QUERY']],
    ] as const)
      it(`refuses ${what}`, async () => {
        expect(await code('Assets', 'getAsset', [file, ...args])).to.deep.equal(expected);
      });

    it('refuses a file that does not exist', async () => {
      expect(await code('Assets', 'getAsset', [user.id])).to.deep.equal([403, 'FORBIDDEN']);
      expect(await code('Assets', 'getAsset', ['../x'])).to.deep.equal([403, 'FORBIDDEN']);
    });
  });

  describe('TFAService', () => {
    const currentCode = (secret: string, steps = 0) =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 });

    it('turns a second factor on, verifies codes once, and turns it off', async () => {
      const { secret, url } = await value('TFA', 'generateTFA', [user.id]);
      expect(url).to.match(/^otpauth:\/\/totp\//);
      expect(await code('TFA', 'enableTFA', [user.id, '000000', secret])).to.deep.equal([401, 'INVALID_OTP']);
      expect(await code('TFA', 'verifyOTP', [user.id, '000000'])).to.deep.equal([400, 'INVALID_PAYLOAD']);
      await value('TFA', 'enableTFA', [user.id, currentCode(secret), secret]);
      const next = currentCode(secret, 1);
      expect(await value('TFA', 'verifyOTP', [user.id, next])).to.equal(true);
      expect(await value('TFA', 'verifyOTP', [user.id, next])).to.equal(false);
      expect(await code('TFA', 'disableTFA', [user.id], {}, user.token)).to.deep.equal([403, 'FORBIDDEN']);
      await value('TFA', 'disableTFA', [user.id], { system: true });
      expect(await code('TFA', 'disableTFA', [user.id])).to.deep.equal([400, 'INVALID_PAYLOAD']);
    });

    it('lets a user whose role has enforce_tfa change the own second factor alone, with a code', async () => {
      const own = await createTestUserAccount(service, await makeRole(service, { enforce_tfa: true }));
      const { secret } = await value('TFA', 'generateTFA', [own.id], {}, own.token);
      await value('TFA', 'enableTFA', [own.id, currentCode(secret), secret], {}, own.token);
      expect(await code('TFA', 'disableTFA', [own.id], {}, own.token)).to.deep.equal([401, 'INVALID_OTP']);
      await value('TFA', 'disableTFA', [own.id, currentCode(secret, 1)], {}, own.token);
      expect(await code('TFA', 'generateTFA', [user.id], {}, own.token)).to.deep.equal([403, 'FORBIDDEN']);
    });
  });

  it('UtilsService sorts and reverts with the permissions of the caller', async () => {
    const rows = [
      { title: 'a', sort: 1 },
      { title: 'b', sort: 2 },
    ];
    const [first, second] = await value('Items', 'createMany', [rows], { of: 'pages' });
    await value('Utils', 'sort', ['pages', { item: second, to: first }]);
    const order = await service.database.query('select title from pages order by sort');
    expect(order.slice(1)).to.deep.equal([{ title: 'b' }, { title: 'a' }]);
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
    expect(await value('Meta', 'getMetaForQuery', ['pages', query])).to.deep.equal({ total_count: 3, filter_count: 1 });
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
});
