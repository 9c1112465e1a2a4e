import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import {
  createMigratedDatabase,
  FIRST_ADMIN_CREDENTIALS,
  type InProcessService,
  type RunningTestService,
  runCli,
  startService,
  TEST_SECRET,
} from '../support/service.ts';
import {
  type ConfinedPackageFolder,
  createConfinedPackageFolder,
  listExtensions,
  reloadExtensions,
  renderConfinedEndpoint,
} from './confined-packages.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

const NAME = 'service-extension-orders';
const asking = (more: object = {}) => ({ type: 'endpoint', capabilities: { endpoint: { access: 'admin' }, ...more } });
const CODE = renderConfinedEndpoint('orders', '() => ({ body: 1 })');

describe('consent for confined packages', () => {
  let packages: ConfinedPackageFolder;
  let database: FreshDatabase;
  const running: RunningTestService[] = [];

  beforeEach(async () => {
    packages = await createConfinedPackageFolder();
    database = await createMigratedDatabase('consent');
  });
  afterEach(async () => {
    for (const service of running.splice(0)) await service.stop();
    await packages.remove();
    await database.drop();
  });

  const start = async (mode?: string): Promise<InProcessService> => {
    const env = { EXTENSIONS_PATH: packages.path, ...(mode ? { EXTENSIONS_CONSENT: mode } : {}) };
    const service = await startService({ database, env });
    running.push(service);
    return service;
  };
  const put = (version: string, more: object = {}) => packages.put(NAME, asking(more), CODE, { version });
  const reasonOf = async (service: RunningTestService) => (await listExtensions(service))[NAME]?.reason;
  const agree = (
    service: RunningTestService,
    token: string | null = service.admin.token,
    body: unknown = { name: NAME },
  ) => service.request('POST', '/extensions/consent', { token, body });

  it('installing a package is consent, and a version that requests more waits', async () => {
    await put('1.0.0');
    const service = await start();
    expect((await listExtensions(service))[NAME]?.status).to.equal('loaded');

    await put('1.1.0', { request: { origins: ['https://api.example.com'], methods: ['POST'] } });
    await reloadExtensions(service);
    const reason = await reasonOf(service);
    expect(reason?.code).to.equal('CONSENT_REQUIRED');
    expect(reason?.detail).to.include('https://api.example.com').and.not.include('admins may call');
    expect((await service.request('GET', '/orders', { token: service.admin.token })).status).to.equal(404);

    const { body: waiting } = await service.request('GET', '/extensions/consent', { token: service.admin.token });
    expect(waiting.data).to.have.length(1);
    expect(waiting.data[0]).to.deep.include({ name: NAME, version: '1.1.0' });

    const reply = await agree(service);
    expect([reply.status, reply.body.data.version]).to.deep.equal([200, '1.1.0']);
    expect((await listExtensions(service))[NAME]?.status).to.equal('loaded');
    expect((await service.request('GET', '/orders', { token: service.admin.token })).status).to.equal(200);
    const [entry] = await database.query(`select * from platform_activity where action = 'consent'`);
    expect(entry).to.deep.include({ item: NAME, collection: 'platform_extensions' });
    expect(entry?.comment).to.include('https://api.example.com');
    expect(entry?.user).to.be.a('string');
  });

  it('a version that requests the same or less loads, and a dropped request needs consent again', async () => {
    await put('1.0.0', { items: { accountability: 'user' }, log: true });
    const service = await start();
    for (const [version, more, status] of [
      ['1.0.1', { items: { accountability: 'user' }, log: true }, 'loaded'],
      ['1.1.0', { log: true }, 'loaded'],
      ['1.2.0', { log: true, items: { accountability: 'user' } }, 'failed'],
    ] as const) {
      await put(version, more);
      await reloadExtensions(service);
      expect((await listExtensions(service))[NAME]?.status, version).to.equal(status);
    }
  });

  it('a wider access level, more events and "stateful" need consent', async () => {
    await put('1.0.0');
    const service = await start();
    for (const [version, manifest, word] of [
      ['2.0.0', { type: 'endpoint', capabilities: { endpoint: { access: 'public' } } }, 'may be called by anyone'],
      ['2.0.1', { ...asking(), stateful: true }, 'keeps state'],
    ] as const) {
      await packages.put(NAME, manifest, CODE, { version });
      await reloadExtensions(service);
      expect((await reasonOf(service))?.detail, version).to.include(word);
    }
  });

  it('POST /extensions/consent answers FORBIDDEN to other callers and INVALID_PAYLOAD for a package that does not wait', async () => {
    await put('1.0.0');
    const service = await start();
    const { token } = await createUserWithPermissions(service, [], { app_access: true });
    for (const other of [null, token]) {
      expect((await agree(service, other)).status).to.equal(403);
      expect((await service.request('GET', '/extensions/consent', { token: other })).status).to.equal(403);
    }
    for (const body of [
      undefined,
      {},
      { name: 1 },
      { name: NAME, more: 1 },
      [],
      { name: NAME },
      { name: 'constructor' },
    ]) {
      const reply = await agree(service, service.admin.token, body);
      expect([reply.status, reply.body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
    }
  });

  it('a command that starts the service loads no package and records no consent', async () => {
    await put('1.0.0');
    const command = runCli(['files', 'check'], {
      CONFIG_PATH: '/dev/null',
      EXTENSIONS_PATH: packages.path,
      DB_CONNECTION_STRING: database.url,
      DATA_PATH: packages.path,
      SECRET: TEST_SECRET,
      ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
      ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
    });
    expect(await command.ended, command.output()).to.equal(0);
    expect(await database.query('select * from platform_extension_grants')).to.deep.equal([]);
    const service = await start('always');
    expect((await reasonOf(service))?.code).to.equal('CONSENT_REQUIRED');
    const { body } = await service.request('GET', '/extensions/consent', { token: service.admin.token });
    expect(body.data[0].asks).to.deep.equal(['may be called by admins']);
  });

  it('POST /extensions/consent rejects "asks" that a newer version has replaced', async () => {
    await put('1.0.0');
    const service = await start();
    await put('1.1.0', { items: { accountability: 'user' } });
    await reloadExtensions(service);
    await put('1.2.0', { items: { accountability: 'full-access' } });
    expect((await agree(service)).status).to.equal(200);
    const row = (await listExtensions(service))[NAME];
    expect([row?.version, row?.reason?.code]).to.deep.equal(['1.2.0', 'CONSENT_REQUIRED']);
    expect((await agree(service)).status).to.equal(200);
    expect((await listExtensions(service))[NAME]?.status).to.equal('loaded');
  });

  it('EXTENSIONS_CONSENT=always holds the first version, and off holds none', async () => {
    await put('1.0.0');
    const strict = await start('always');
    expect((await reasonOf(strict))?.code).to.equal('CONSENT_REQUIRED');
    expect((await agree(strict)).status).to.equal(200);
    expect((await listExtensions(strict))[NAME]?.status).to.equal('loaded');
    await strict.stop();
    running.splice(0);

    await put('1.1.0', { items: { accountability: 'full-access' } });
    const free = await start('off');
    expect((await listExtensions(free))[NAME]?.status).to.equal('loaded');
    const [{ version }] = (await database.query('select version from platform_extension_grants')) as [
      { version: string },
    ];
    expect(version).to.equal('1.1.0');
  });

  it('consent in one process loads the package in the others', async function () {
    this.timeout(120_000);
    await put('1.0.0');
    const [one, two] = [await start(), await start()];
    await put('1.1.0', { log: true });
    await reloadExtensions(one);
    // Whether this process runs version 1.1.0: each process loads it at its own time.
    const isNew = async (service: RunningTestService) => {
      const row = (await listExtensions(service))[NAME];
      return row?.status === 'loaded' && row.version === '1.1.0';
    };
    expect(await isNew(one)).to.equal(false);
    expect((await agree(one)).status).to.equal(200);
    const deadline = Date.now() + 30_000;
    while (Date.now() < deadline && !(await isNew(two))) await new Promise((resolve) => setTimeout(resolve, 50));
    expect([await isNew(one), await isNew(two)]).to.deep.equal([true, true]);
  });

  it('no collection route reads the table of consent', async () => {
    await put('1.0.0');
    const service = await start();
    const collections = await requestAsAdmin(service, 'GET', '/collections');
    expect(JSON.stringify(collections)).not.to.include('platform_extension_grants');
    expect(
      (await service.request('GET', '/items/platform_extension_grants', { token: service.admin.token })).status,
    ).to.equal(403);
  });
});
