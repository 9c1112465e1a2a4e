import { expect } from 'chai';
import { BootFailure } from '#kernel';
import { createPackageJson } from '../plugins/extensions/package-folder.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import {
  type ConfinedPackageFolder,
  createConfinedPackageFolder,
  listExtensions,
  reloadExtensions,
} from './confined-packages.ts';

const COLLECTIONS = ['notes', 'crashing', 'drafts', 'memos', 'free'] as const;
const EVENTS = ['create', 'update', 'delete'] as const;
const BROKEN = 'export default { id: ';

/** The manifest of a required package with a confined hook on this collection; `confinedCode` is its code. */
const confinedGuard = (collection: string, more: object = {}) => ({
  type: 'hook',
  events: { filter: EVENTS.map((event) => `${collection}.items.${event}`) },
  capabilities: {},
  required: true,
  ...more,
});
const confinedCode = (id: string, collection: string, mark = 'seen') =>
  `export default { id: '${id}', filters: {
    '${collection}.items.create': (payload) => ({ ...payload, mark: '${mark}' }),
    '${collection}.items.update': (payload) => ({ ...payload, mark: '${mark}' }),
    '${collection}.items.delete': (keys) => keys,
  } };`;
const fullCode = (collection: string) =>
  `export default ({ filter }) => { filter('${collection}.items.create', (payload) => ({ ...payload, mark: 'seen' })); };`;

describe('a required package that is not loaded', function () {
  this.timeout(180_000);
  let packages: ConfinedPackageFolder;
  let database: FreshDatabase;
  let service: InProcessService;

  const write = (name: string, code: string, manifest: object) => packages.put(name, manifest, code);
  const full = (collection: string, more: object = {}) => ({
    type: 'hook',
    runtime: undefined,
    source: undefined,
    required: true,
    name: collection,
    ...more,
  });
  const putFull = (name: string, collection: string, code = fullCode(collection)) => {
    const { name: _name, ...manifest } = full(collection);
    return write(name, code, manifest);
  };
  const send = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: service.admin.token, body });
  const post = (path: string, body: unknown) => send('POST', path, body);
  const create = (collection: string) => send('POST', `/items/${collection}`, { text: 'new' });
  const idOf = async (name: string) => (await listExtensions(service))[name]?.id as string;
  const patch = (id: string, body: unknown, token: string | null = service.admin.token) =>
    service.request('PATCH', `/extensions/${id}`, { token, body });
  const start = (env: Record<string, string> = {}) =>
    startService({ database, env: { EXTENSIONS_PATH: packages.path, LOG_LEVEL: 'error', ...env } });
  const restart = async (env: Record<string, string> = {}) => {
    await service.stop();
    service = await start(env);
  };
  const health = async () =>
    (await service.request('GET', '/server/health', { token: service.admin.token })).body as {
      status: string;
      checks: Record<string, { status: string; observedValue: number }[]>;
    };
  const refused = { status: 503, code: 'GUARD_NOT_LOADED' };
  const outcome = ({ status, body }: { status: number; body: { errors?: { extensions: { code: string } }[] } }) => ({
    status,
    code: body?.errors?.[0]?.extensions.code,
  });

  before(async () => {
    packages = await createConfinedPackageFolder();
    database = await createMigratedDatabase('required');
    service = await start();
    for (const collection of COLLECTIONS) {
      const fields = ['text', 'mark'].map((field) => ({ field, type: 'text' }));
      await post('/collections', { collection, schema: {}, fields });
    }
    await post('/fields/free', { field: 'note', type: 'integer' });
    await post('/relations', { collection: 'free', field: 'note', related_collection: 'notes' });
    await create('notes');
    await write('service-extension-notes', BROKEN, confinedGuard('notes'));
    await putFull('service-extension-memos', 'memos');
    await reloadExtensions(service);
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
    await database?.drop();
  });

  it('GET /extensions lists it as required, and health warns', async () => {
    const row = (await listExtensions(service))['service-extension-notes'];
    expect(row).to.deep.include({ status: 'failed', required: true });
    const { status, checks } = await health();
    expect(status).to.equal('warn');
    expect(checks['extensions:failed']?.[0]).to.deep.include({ status: 'warn', observedValue: 1 });
  });

  it('every kind of write that emits its events answers 503, and other writes succeed', async () => {
    const graphql = (query: string) => post('/graphql', { query });
    const token = service.admin.token;
    const ways: Record<string, () => Promise<unknown>> = {
      'one row': () => create('notes'),
      'a list': () => post('/items/notes', [{ text: 'a' }, { text: 'b' }]),
      'nested in another row': () => post('/items/free', { text: 'outer', note: { text: 'inner' } }),
      'an update': () => send('PATCH', '/items/notes/1', { text: 'x' }),
      'an update by query': () =>
        send('PATCH', '/items/notes', { query: { filter: { id: { _gt: 0 } } }, data: { text: 'x' } }),
      'a nested update': () => post('/items/free', { text: 'outer', note: { id: 1, text: 'inner' } }),
      'a deletion': () => send('DELETE', '/items/notes/1'),
      'a deletion by query': () =>
        service.request('DELETE', '/items/notes', { token, body: { query: { filter: { id: { _gt: 0 } } } } }),
    };
    for (const [way, attempt] of Object.entries(ways))
      expect(outcome((await attempt()) as never), way).to.deep.equal(refused);
    const { body } = (await graphql('mutation { create_notes_item(data: { text: "x" }) { id } }')) as {
      body: { errors?: { extensions: { code: string } }[] };
    };
    expect(body.errors?.[0]?.extensions.code).to.equal('GUARD_NOT_LOADED');
    expect(await database.query('select text, mark from notes')).to.deep.equal([{ text: 'new', mark: null }]);
    expect((await create('free')).status).to.equal(200);
    expect((await service.request('GET', '/items/notes', { token })).status).to.equal(200);
  });

  it('its filter runs again once the package is repaired and loaded', async () => {
    await write('service-extension-notes', confinedCode('notes', 'notes'), confinedGuard('notes'));
    await reloadExtensions(service);
    expect((await create('notes')).body.data.mark).to.equal('seen');
    await until(async () => (await health()).checks['extensions:failed']?.[0]?.status === 'ok');
  });

  it('its events are refused during a reload', async () => {
    let isOver = false;
    const answers: { status: number; body: { data?: { mark: string } } }[] = [];
    const writers = Array.from({ length: 4 }, async () => {
      while (!isOver) answers.push(await create('notes'));
    });
    for (const mark of ['second', 'third']) {
      await write('service-extension-notes', confinedCode('notes', 'notes', mark), confinedGuard('notes'));
      await reloadExtensions(service);
    }
    isOver = true;
    await Promise.all(writers);
    // 5xx answers are allowed: a write fails when the process of its hook ends during the reload.
    const through = answers.filter(({ status }) => status < 500);
    expect(through.filter(({ body }) => body.data?.mark === null)).to.deep.equal([]);
    expect(await database.query('select 1 from notes where mark is null')).to.have.length(1);
    expect((await create('notes')).body.data.mark).to.equal('third');
  });

  it('its events are refused after it crashed', async () => {
    const exits = `export default { id: 'crashing', filters: { 'crashing.items.create': () => { for (const all = [];;) all.push('x'.repeat(1e6) + all.length); } } };`;
    await write('service-extension-crashing', exits, {
      ...confinedGuard('crashing'),
      events: { filter: ['crashing.items.create'] },
    });
    await reloadExtensions(service);
    await until(async () => {
      await create('crashing');
      return (await listExtensions(service))['service-extension-crashing']?.status === 'failed';
    });
    expect(outcome(await create('crashing'))).to.deep.equal(refused);
    await packages.drop('service-extension-crashing');
    await patch(await idOf('service-extension-crashing'), { required: false });
    await reloadExtensions(service);
    expect((await create('crashing')).status).to.equal(200);
  });

  it('its events are refused after its folder was removed, also after a restart, until an admin sets required to false', async () => {
    await packages.drop('service-extension-notes');
    await reloadExtensions(service);
    expect(outcome(await create('notes'))).to.deep.equal(refused);
    await restart();
    expect(outcome(await create('notes'))).to.deep.equal(refused);
    const row = (await listExtensions(service))['service-extension-notes'];
    expect(row).to.deep.include({ status: 'failed', required: true });
    expect(row?.reason?.code).to.equal('DISCOVERY_FAILED');
    const id = await idOf('service-extension-notes');
    expect((await patch(id, { required: false }, null)).status).to.equal(403);
    expect((await patch(id, { required: 'no' })).status).to.equal(400);
    expect((await patch(id, { required: false })).status).to.equal(200);
    expect((await create('notes')).status).to.equal(200);
    expect(await listExtensions(service)).not.to.have.property('service-extension-notes');
  });

  it('the known events of code with full authority are refused when it cannot be imported', async () => {
    expect((await create('memos')).body.data.mark).to.equal('seen');
    await putFull('service-extension-memos', 'memos', 'throw new Error("no");');
    await reloadExtensions(service);
    expect(outcome(await create('memos'))).to.deep.equal(refused);
    await restart();
    expect(outcome(await create('memos'))).to.deep.equal(refused);
    expect((await create('free')).status).to.equal(200);
    await putFull('service-extension-memos', 'memos');
    await reloadExtensions(service);
    expect((await create('memos')).body.data.mark).to.equal('seen');
  });

  it('every write is refused if code with full authority never ran, because its filters are not known', async () => {
    await putFull('service-extension-never', 'anything', 'throw new Error("no");');
    await reloadExtensions(service);
    expect(outcome(await create('free'))).to.deep.equal(refused);
    expect(outcome((await post('/users', { email: 'a@example.com' })) as never)).to.deep.equal(refused);
    expect((await patch(await idOf('service-extension-never'), { required: false })).status).to.equal(200);
    expect((await create('free')).status).to.equal(200);
    await packages.drop('service-extension-never');
    await reloadExtensions(service);
  });

  it('its events are refused while it waits for consent or is written for another host', async () => {
    await write('service-extension-drafts', confinedCode('drafts', 'drafts'), confinedGuard('drafts'));
    await reloadExtensions(service);
    expect((await create('drafts')).body.data.mark).to.equal('seen');
    await write(
      'service-extension-drafts',
      confinedCode('drafts', 'drafts'),
      confinedGuard('drafts', { capabilities: { log: true } }),
    );
    await reloadExtensions(service);
    expect((await listExtensions(service))['service-extension-drafts']?.reason?.code).to.equal('CONSENT_REQUIRED');
    expect(outcome(await create('drafts'))).to.deep.equal(refused);
    await write(
      'service-extension-drafts',
      confinedCode('drafts', 'drafts'),
      confinedGuard('drafts', { host: '^99.0.0' }),
    );
    await reloadExtensions(service);
    expect(outcome(await create('drafts'))).to.deep.equal(refused);
    await patch(await idOf('service-extension-drafts'), { required: false });
    expect((await create('drafts')).status).to.equal(200);
    await packages.drop('service-extension-drafts');
    await reloadExtensions(service);
  });

  it("an admin's decision makes a package required in every process and after a restart", async () => {
    const manifest = confinedGuard('drafts', { required: undefined });
    await write('service-extension-by-admin', confinedCode('by-admin', 'drafts'), manifest);
    await reloadExtensions(service);
    expect((await listExtensions(service))['service-extension-by-admin']).not.to.have.property('required');
    const other = await start();
    try {
      const { body } = await patch(await idOf('service-extension-by-admin'), { required: true });
      expect(body.data).to.deep.include({ name: 'service-extension-by-admin', required: true });
      await packages.drop('service-extension-by-admin');
      const { token } = other.admin;
      await other.request('POST', '/extensions/reload', { token });
      const here = { token, body: { text: 'new' } };
      await until(async () => (await other.request('POST', '/items/drafts', here)).status === 503);
      await until(async () => (await create('drafts')).status === 503);
    } finally {
      await other.stop();
    }
    await restart();
    expect(outcome(await create('drafts'))).to.deep.equal(refused);
    await restart({ SAFE_MODE: 'true' });
    expect(outcome(await create('drafts')), 'safe mode').to.deep.equal(refused);
    await patch(await idOf('service-extension-by-admin'), { required: null });
    expect((await create('drafts')).status).to.equal(200);
    await restart();
  });

  it('the events of a required plugin are refused as well', async () => {
    const put = (code: string) =>
      packages.put('acme-guard', {}, code).then(async () => {
        const manifest = { type: 'plugin', path: 'index.js', required: true };
        const capabilities = { events: { filter: ['drafts.items.create'] } };
        const { writeFile } = await import('node:fs/promises');
        await writeFile(
          `${packages.path}/acme-guard/package.json`,
          JSON.stringify(createPackageJson('acme-guard', { ...manifest, capabilities })),
        );
      });
    await put(`export default { register() { throw new Error('no'); } };`);
    await reloadExtensions(service);
    expect(outcome(await create('drafts'))).to.deep.equal(refused);
    await patch(await idOf('acme-guard'), { required: false });
    expect((await create('drafts')).status).to.equal(200);
    await packages.drop('acme-guard');
    await reloadExtensions(service);
  });

  it('a package in EXTENSIONS_MUST_LOAD that fails to load stops the start with a remedy', async () => {
    await write('service-extension-broken', BROKEN, confinedGuard('drafts', { required: undefined }));
    const failureOf = async (names: string) => {
      try {
        await (await start({ EXTENSIONS_MUST_LOAD: names })).stop();
      } catch (error) {
        return error as BootFailure;
      }
      return undefined;
    };
    for (const [names, plugin, reason] of [
      ['service-extension-broken', 'service-extension-broken', /EXTENSIONS_MUST_LOAD.*INVALID_ENTRY/],
      ['service-extension-lost', 'service-extension-lost', /EXTENSIONS_MUST_LOAD.*no package of this name/],
      ['true', 'service-extension-broken', /EXTENSIONS_MUST_LOAD/],
    ] as const) {
      const failure = await failureOf(names);
      expect(failure, names).to.be.instanceOf(BootFailure);
      expect(failure).to.deep.include({ plugin, phase: 'start' });
      expect(failure?.message).to.match(reason);
      expect(failure?.remedy).to.be.a('string');
    }
    expect(await failureOf('service-extension-memos')).to.equal(undefined);
    await packages.drop('service-extension-broken');
  });
});
