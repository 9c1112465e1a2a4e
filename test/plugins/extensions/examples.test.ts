import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type FlowOperationKind, type FlowOperationRegistry, operations } from '../../../plugins/flows/contract.ts';
import { listExtensions } from '../../http/confined-packages.ts';
import { requestAsAdmin } from '../../http/test-users.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { type TestComposition, writeTestPluginPackages } from '../../support/test-plugins.ts';

const EXAMPLES = fileURLToPath(new URL('../../../extensions/examples/', import.meta.url));

describe('the examples in extensions/examples', () => {
  let thirdParty: TestComposition;
  let service: InProcessService;
  let registry: FlowOperationRegistry;

  before(async function () {
    this.timeout(120_000);
    thirdParty = await writeTestPluginPackages([
      {
        name: 'runner',
        thirdParty: true,
        manifest: { uses: { operations: '^1.0.0' } },
        register(host) {
          registry = host.use({ operations }).operations;
        },
      },
    ]);
    await cp(EXAMPLES, join(thirdParty.folder, 'local'), { recursive: true });
    service = await startService({ env: { EXTENSIONS_PATH: join(thirdParty.folder, 'local') } });
    for (const [collection, names] of Object.entries({ articles: ['title', 'slug'], orders: ['state', 'total'] })) {
      const fields = names.map((field) => ({ field, type: field === 'total' ? 'integer' : 'string' }));
      await requestAsAdmin(service, 'POST', '/collections', { collection, schema: {}, fields });
    }
  });
  after(async () => {
    await service?.stop();
    await thirdParty?.remove();
  });

  const ask = (method: string, path: string, token?: string) => service.request(method, path, token ? { token } : {});
  const run = (id: string, options: object, $last: unknown) =>
    (registry.find(id) as FlowOperationKind).run({ ...options }, { data: { $last }, caller: null });

  it('all examples load', async () => {
    // The other examples are plugins, which the kernel loads.
    const names = (await readdir(EXAMPLES, { withFileTypes: true })).filter(({ name }) => name.startsWith('service-'));
    const rows = await listExtensions(service);
    expect(names).to.have.length(6);
    for (const { name } of names)
      expect([rows[name]?.status, rows[name]?.reason], name).to.deep.equal(['loaded', undefined]);
  });

  it('the built files match the sources', async () => {
    for (const name of ['hello', 'rates', 'slugs', 'inventory']) {
      const [source, built] = await Promise.all(
        ['src', 'dist'].map((part) => readFile(join(EXAMPLES, `service-extension-${name}`, part, 'index.js'), 'utf8')),
      );
      expect(built, name).to.equal(source);
    }
  });

  it('hello answers anonymous callers', async () => {
    expect((await ask('GET', '/hello/Ada?language=de')).body).to.deep.equal({
      message: 'Hallo, Ada!',
      signedIn: false,
    });
    expect((await ask('GET', '/hello', service.admin.token)).body).to.deep.equal({
      message: 'Hello, world!',
      signedIn: true,
    });
    expect((await service.request('POST', '/hello', { body: {} })).status).to.equal(405);
  });

  it('rates requests another service and reports if that does not answer', async () => {
    expect((await ask('GET', '/rates/EUR')).status).to.equal(401);
    expect((await ask('GET', '/rates/euro', service.admin.token)).status).to.equal(400);
    expect((await ask('GET', '/rates/EUR', service.admin.token)).status).to.equal(502);
  });

  it('slugs sets a slug and rejects a row without a title', async () => {
    expect(await requestAsAdmin(service, 'POST', '/items/articles', { title: 'Ein schöner Tag' })).to.deep.include({
      slug: 'ein-schoner-tag',
    });
    const refused = await service.request('POST', '/items/articles', {
      token: service.admin.token,
      body: { slug: 'a' },
    });
    expect(refused.status).to.equal(500);
  });

  it('shout renders a template', async () => {
    expect(await run('shout', { template: 'hi {{ input.name }}' }, { name: 'ada' })).to.deep.equal({ text: 'HI ADA' });
  });

  it('shop loads a hook, an endpoint and an operation from one bundle', async () => {
    const order = await requestAsAdmin(service, 'POST', '/items/orders', { total: 3 });
    expect(order.state).to.equal('new');
    expect((await ask('GET', '/shop-orders', service.admin.token)).body).to.deep.equal([
      { id: order.id, total: 3, state: 'new' },
    ]);
    expect((await ask('GET', '/shop-orders')).status).to.equal(401);
    expect(await run('shop-total', {}, [{ total: 1 }, { total: 2 }])).to.deep.equal({ total: 3, rows: 2 });
  });

  it('inventory answers from services and the database with full authority', async () => {
    const { body } = await ask('GET', '/inventory/collections', service.admin.token);
    expect(body.data).to.include.members(['articles', 'orders']);
    expect((await ask('GET', '/inventory/size')).status).to.equal(403);
    expect((await ask('GET', '/inventory/size', service.admin.token)).body.data.bytes).to.match(/^\d+$/);
  });
});
