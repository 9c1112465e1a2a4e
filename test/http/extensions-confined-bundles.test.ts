import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';
import {
  type ConfinedPackageFolder,
  createConfinedPackageFolder,
  listExtensions,
  reloadExtensions,
  renderConfinedEndpoint,
} from './confined-packages.ts';
import { requestAsAdmin } from './test-users.ts';

const ENTRY = 'index.js';
const open = { endpoint: { access: 'public' } };

describe('confined bundles', () => {
  let packages: ConfinedPackageFolder;
  let service: InProcessService;

  before(async function () {
    this.timeout(120_000);
    packages = await createConfinedPackageFolder();
    await packages.put(
      'service-extension-shop',
      {
        type: 'bundle',
        entries: [
          {
            type: 'endpoint',
            name: 'reader',
            source: ENTRY,
            capabilities: { ...open, items: { accountability: 'full-access' } },
          },
          { type: 'endpoint', name: 'poor', source: ENTRY, capabilities: open },
          { type: 'endpoint', name: 'items', source: ENTRY, capabilities: open },
          { type: 'endpoint', name: 'silent', source: ENTRY },
          { type: 'hook', name: 'stamp', source: ENTRY, events: { filter: ['notes.items.create'] } },
          { type: 'operation', name: 'shop-total', source: { app: 'app.js', api: ENTRY } },
          { type: 'panel', name: 'chart', source: 'app.js' },
        ],
      },
      `const read = async (request, { host, contributionId }) =>
        ({ body: { contributionId, ...(await host.items.readMany('notes', {})) } });
      export default {
        'endpoint:reader': { id: 'reader', handler: read },
        'endpoint:poor': { handler: read },
        'endpoint:items': { handler: read },
        'endpoint:silent': { handler: read },
        'hook:stamp': { filters: { 'notes.items.create': (payload) => ({ ...payload, text: 'stamped' }) } },
        'operation:shop-total': { handler: () => 1 },
      };`,
    );
    await packages.put(
      'service-extension-bad',
      { type: 'bundle', entries: [{ type: 'endpoint', name: 'bad-one', source: ENTRY, capabilities: open }] },
      `export default { 'endpoint:another': { handler: () => ({}) } };`,
    );
    service = await startService({ env: { EXTENSIONS_PATH: packages.path } });
    const fields = [{ field: 'text', type: 'string' }];
    await requestAsAdmin(service, 'POST', '/collections', { collection: 'notes', schema: {}, fields });
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
  });

  const shop = async () => (await listExtensions(service))['service-extension-shop'];
  const failed = async () =>
    (await shop())?.entries
      ?.filter(({ status }) => status === 'failed')
      .map(({ name, reason }) => [name, reason?.code]);

  it('a bundle loads its valid entries and lists the state of each', async () => {
    const row = await shop();
    expect([row?.status, row?.runtime, row?.capabilities]).to.deep.equal(['partial', 'confined-server', undefined]);
    expect(await failed()).to.deep.equal([
      ['items', 'ROUTE_COLLISION'],
      ['silent', 'CAPABILITY_MISSING'],
    ]);
    expect(row?.entries?.find(({ name }) => name === 'reader')).to.deep.equal({
      type: 'endpoint',
      name: 'reader',
      status: 'loaded',
      capabilities: { endpoint: { access: 'public' }, items: { accountability: 'full-access' } },
    });
    expect(row?.entries?.find(({ name }) => name === 'chart')).to.deep.equal({
      type: 'panel',
      name: 'chart',
      status: 'loaded',
    });
  });

  it('each entry has its own grants and none of the other entries', async () => {
    const created = await requestAsAdmin(service, 'POST', '/items/notes', {});
    expect(created.text).to.equal('stamped');
    const rich = await service.request('GET', '/reader');
    expect(rich.body).to.deep.equal({ contributionId: 'reader', ok: true, value: [created] });
    const { body } = await service.request('GET', '/poor');
    expect([body.contributionId, body.ok, body.error.code]).to.deep.equal(['poor', false, 'denied']);
  });

  it('a bundle fails as a whole if an entry is missing in the code', async () => {
    const row = (await listExtensions(service))['service-extension-bad'];
    expect([row?.status, row?.reason?.code]).to.deep.equal(['failed', 'INVALID_ENTRY']);
  });

  it('an entry stops while another package has the same name, and loads again afterwards', async () => {
    await packages.put(
      'service-extension-poor',
      { type: 'endpoint', capabilities: open },
      renderConfinedEndpoint('poor', '() => ({})'),
    );
    await reloadExtensions(service);
    expect(await failed()).to.deep.include(['poor', 'AMBIGUOUS_ENDPOINT']);
    expect((await listExtensions(service))['service-extension-poor']?.reason?.code).to.equal('AMBIGUOUS_ENDPOINT');
    expect((await service.request('GET', '/poor')).status).to.equal(404);
    expect((await service.request('GET', '/reader')).status).to.equal(200);
    await packages.drop('service-extension-poor');
    await reloadExtensions(service);
    expect((await service.request('GET', '/poor')).status).to.equal(200);
  });

  it('a removed bundle leaves no routes, hooks or operations', async () => {
    await packages.drop('service-extension-shop');
    await reloadExtensions(service);
    expect((await service.request('GET', '/reader')).status).to.equal(404);
    expect((await requestAsAdmin(service, 'POST', '/items/notes', { text: 'plain' })).text).to.equal('plain');
    const { body } = await service.request('GET', '/extensions/audit', { token: service.admin.token });
    expect(body.data.may.map(({ name }: { name: string }) => name)).not.to.include('service-extension-shop');
  });
});
