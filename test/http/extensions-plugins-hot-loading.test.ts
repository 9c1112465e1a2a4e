import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { type FlowOperationRegistry, operations } from '../../plugins/flows/contract.ts';
import { createPackageFolder, createPackageJson, type PackageFolder } from '../plugins/extensions/package-folder.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { type TestComposition, writeTestPluginPackages } from '../support/test-plugins.ts';
import { listExtensions, reloadExtensions } from './confined-packages.ts';

const NAME = 'acme-everything';
const SERVICE = new URL('../../', import.meta.url);

/** The code of a plugin with one contribution of every kind that a running service accepts, and with a timer. */
const CODE = `
import { middleware } from '${new URL('kernel/index.ts', SERVICE).href}';
import { routes } from '${new URL('plugins/http/contract.ts', SERVICE).href}';

const log = (globalThis.acmeEverything ??= []);
export default {
  register(host) {
    let timer;
    const description = { summary: 'Repeats.', access: 'public', params: { what: { description: 'A word.', schema: {} } }, answers: {} };
    host.contribute(routes, { method: 'GET', path: '/acme/:what', description, handle: (ctx) => { ctx.body = { data: ctx.params.what }; } });
    host.contribute('graphql.fields', { scope: 'items', operation: 'query', definition: 'acme_answer: Int', resolve: () => 42 });
    host.contribute('flows.operations', { id: 'acme-step', run: async () => 'done' });
    host.contribute('auth.drivers', {
      name: 'acme',
      provider: 'acme',
      kind: 'credentials',
      schema: { type: 'object', required: ['pin'], properties: { pin: { type: 'string' } } },
      identifiers: [],
      authenticate: async ({ pin }) => ({ externalIdentifier: 'acme-' + pin }),
    });
    host.contribute('health', { name: 'acme:answer', componentType: 'component', check: async () => ({ value: 1 }) });
    host.contribute(middleware, {
      name: 'acme',
      phase: 'edge',
      handle: (ctx, next) => { ctx.set('X-Acme', 'here'); return next(); },
    });
    host.events.onAction('items.create', () => void log.push('created'));
    host.events.onFilter('authors.items.create', (payload) => payload);
    host.onStart(() => { timer = setInterval(() => {}, 60_000); log.push('started'); });
    host.onStop(() => { clearInterval(timer); log.push('stopped'); });
  },
};
`;
const MANIFEST = {
  type: 'plugin',
  path: 'index.js',
  contributes: {
    'http.routes': { prefixes: ['/acme'] },
    'http.middleware': { phases: ['edge'] },
    'graphql.fields': { names: ['acme_answer'] },
    'flows.operations': { ids: ['acme-step'] },
    'auth.drivers': { names: ['acme'] },
    health: {},
  },
  capabilities: { events: { action: ['items.create'], filter: ['authors.items.create'] } },
};

describe('a third-party plugin in a running service', function () {
  this.timeout(120_000);
  let place: PackageFolder;
  let watcher: TestComposition;
  let service: InProcessService;
  let registry: FlowOperationRegistry;

  before(async () => {
    watcher = await writeTestPluginPackages([
      {
        name: 'watcher',
        manifest: { uses: { operations: '^1.0.0' } },
        register: (host) => void (registry = host.use({ operations }).operations),
      },
    ]);
    place = await createPackageFolder();
    service = await startService({ plugins: watcher.composition.plugins, env: { EXTENSIONS_PATH: place.path } });
    await service.request('POST', '/collections', {
      token: service.admin.token,
      body: { collection: 'authors', schema: {}, fields: [{ field: 'name', type: 'string' }] },
    });
  });
  after(async () => {
    await service?.stop();
    await watcher?.remove();
    await place?.remove();
  });

  const install = () =>
    place.write({ [`${NAME}/package.json`]: createPackageJson(NAME, MANIFEST), [`${NAME}/index.js`]: CODE });
  const diary = (): string[] => (globalThis as unknown as { acmeEverything?: string[] }).acmeEverything ?? [];
  const asAdmin = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: service.admin.token, ...(body === undefined ? {} : { body }) });

  /** Requests everything that the plugin contributes, to find out which of its contributions are there. */
  async function traces() {
    const route = await service.request('GET', '/acme/route');
    const { body: graphql } = await asAdmin('POST', '/graphql', { query: '{ acme_answer }' });
    const { body: sdl } = await asAdmin('GET', '/server/specs/graphql');
    const { body: checks } = await asAdmin('GET', '/server/health');
    const { body: providers } = await service.request('GET', '/auth');
    const login = await service.request('POST', '/auth/login/acme', { body: { pin: 'unknown' } });
    const { added } =
      (await asAdmin('POST', '/items/authors', { name: 'Ann' })).status === 200 ? { added: true } : { added: false };
    return {
      route: [route.status, route.body?.data],
      header: route.headers.get('x-acme'),
      field: graphql.data?.acme_answer,
      inSchema: String(sdl).includes('acme_answer'),
      check: 'acme:answer' in checks.checks,
      operation: registry.owners('acme-step'),
      provider: providers.data.map(({ name }: { name: string }) => name),
      login: login.body.errors[0].extensions.code,
      audited: service.kernel.audit().some(({ name }) => name === NAME),
      added,
    };
  }
  const NOTHING = {
    route: [404, undefined],
    header: null,
    field: undefined,
    inSchema: false,
    check: false,
    operation: [],
    provider: [],
    login: 'ROUTE_NOT_FOUND',
    audited: false,
    added: true,
  };

  it('no route of the plugin answers before it is installed', async () => {
    expect(await traces()).to.deep.equal(NOTHING);
  });

  it('all its contributions work once it is loaded, without a restart', async () => {
    await install();
    await reloadExtensions(service);
    expect((await listExtensions(service))[NAME]).to.deep.include({ status: 'loaded', type: 'plugin' });
    expect(await traces()).to.deep.equal({
      route: [200, 'route'],
      header: 'here',
      field: 42,
      inSchema: true,
      check: true,
      operation: [NAME],
      provider: ['acme'],
      login: 'INVALID_CREDENTIALS',
      audited: true,
      added: true,
    });
    expect(service.kernel.countOf(NAME)).to.deep.equal({ facets: 6, listeners: 2 });
    expect(diary()).to.deep.equal(['started', 'created']);
  });

  it('none of its contributions is left when it is removed', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    await place.drop(NAME);
    const before = timers();
    await reloadExtensions(service);
    expect(service.kernel.countOf(NAME)).to.deep.equal({ facets: 0, listeners: 0 });
    expect(service.kernel.plugins.some(({ name }) => name === NAME)).to.equal(false);
    expect(await traces()).to.deep.equal(NOTHING);
    expect(await listExtensions(service)).to.deep.equal({});
    expect(diary()).to.deep.equal(['started', 'created', 'stopped']);
    // The connections of requests add timers for a moment, so the count falls only after a while.
    for (const end = Date.now() + 30_000; timers() > before && Date.now() < end; ) await pause(20);
    expect(timers()).to.be.at.most(before);
  });

  it("it loads again when it is installed again, and a core plugin's name is refused", async () => {
    await install();
    await place.write({
      'acme-thief/package.json': createPackageJson('acme-thief', {
        type: 'plugin',
        path: 'index.js',
        provides: { items: '1.0.0' },
      }),
      'acme-thief/index.js': 'export default { register() {} };',
    });
    await reloadExtensions(service);
    const rows = await listExtensions(service);
    expect(rows[NAME]?.status).to.equal('loaded');
    expect(rows['acme-thief']?.reason?.code).to.equal('MANIFEST_INVALID');
    expect((await traces()).route).to.deep.equal([200, 'route']);
    await place.drop(NAME, 'acme-thief');
    await reloadExtensions(service);
    expect(await traces()).to.deep.equal(NOTHING);
  });
});
