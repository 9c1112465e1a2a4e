import * as published from '@directus/sdk';
import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';
import {
  type ConfinedPackageFolder,
  createConfinedPackageFolder,
  renderConfinedEndpoint,
} from './confined-packages.ts';

// The types of @directus/sdk describe the extensions of Directus, so this test does not use them.
// biome-ignore lint/suspicious/noExplicitAny: see above
type AnyValue = any;
const sdk: AnyValue = published;

describe('a published client against the extension routes', function () {
  this.timeout(120_000);
  let packages: ConfinedPackageFolder;
  let service: InProcessService;
  let admin: AnyValue;
  let anonymous: AnyValue;

  before(async () => {
    packages = await createConfinedPackageFolder();
    await packages.put(
      'service-extension-echo',
      {
        type: 'endpoint',
        capabilities: { endpoint: { access: 'public' } },
        settings: { greeting: { type: 'string', appReadable: true } },
      },
      renderConfinedEndpoint(
        'echo',
        `async ({ path, query, body }, { host }) => {
          if (path === '/refuse') return { status: 409, body: { errors: [{ message: 'taken', extensions: { code: 'CONFLICT' } }] } };
          if (path === '/greeting') return { body: { data: (await host.settings.get('greeting')).value } };
          return { body: { path, query, body } };
        }`,
      ),
    );
    await packages.put('service-extension-bad', { type: 'endpoint' }, 'export default {');
    service = await startService({ env: { EXTENSIONS_PATH: packages.path } });
    const client = () => sdk.createDirectus(service.url).with(sdk.rest());
    anonymous = client();
    admin = sdk.createDirectus(service.url).with(sdk.staticToken(service.admin.token)).with(sdk.rest());
  });
  after(async () => {
    await service?.stop();
    await packages?.remove();
  });

  const failureOf = async (work: Promise<unknown>): Promise<AnyValue> =>
    work.then(
      () => undefined,
      (error) => error,
    );

  it('the client lists extensions with the members it knows and those of the specification', async () => {
    const all = await admin.request(sdk.readExtensions());
    const { id, meta, ...echo } = all.find((one: AnyValue) => one.name === 'service-extension-echo');
    expect(id).to.match(/^[0-9a-f-]{36}$/);
    expect(meta).to.deep.equal({ id, source: 'local', enabled: true, folder: 'service-extension-echo', bundle: null });
    expect(echo).to.deep.equal({
      name: 'service-extension-echo',
      type: 'endpoint',
      local: true,
      status: 'loaded',
      version: '1.0.0',
      runtime: 'confined-server',
      capabilities: { endpoint: { access: 'public' } },
      settings: { status: 'available' },
      bundle: null,
      schema: { type: 'endpoint', local: true, version: '1.0.0' },
    });
    const bad = all.find((one: AnyValue) => one.name === 'service-extension-bad');
    expect([bad.status, bad.reason.code]).to.deep.equal(['failed', 'INVALID_ENTRY']);
    expect(bad).not.to.have.any.keys('entries', 'settings', 'capabilities');
  });

  it('the client throws the errors of refused requests', async () => {
    const error = await failureOf(anonymous.request(sdk.readExtensions()));
    expect(sdk.isDirectusError(error, 'FORBIDDEN')).to.equal(true);
    for (const command of [sdk.updateExtension('x', { meta: { enabled: false } }), sdk.deleteExtension('x')]) {
      expect(sdk.isDirectusError(await failureOf(admin.request(command)), 'ROUTE_NOT_FOUND')).to.equal(true);
    }
  });

  it('the client calls confined endpoints and gets their answers and rejections', async () => {
    const call = (path: string, more: object = {}) => anonymous.request(sdk.customEndpoint({ path, ...more }));
    expect(await call('/echo/a/b', { params: { x: 1, y: 'z' } })).to.deep.equal({
      path: '/a/b',
      query: { x: '1', y: 'z' },
      body: null,
    });
    expect(await call('/echo', { method: 'POST', body: JSON.stringify({ a: 1 }) })).to.deep.include({ body: { a: 1 } });
    const refused = await failureOf(call('/echo/refuse'));
    expect([refused.response.status, refused.errors[0].extensions.code]).to.deep.equal([409, 'CONFLICT']);
  });

  it('the client writes and reads settings of an extension', async () => {
    const place = { subject: 'service-extension-echo', scope: 'global', scope_key: '', key: 'greeting' };
    const settings = (method: string, path: string, more: object = {}) =>
      admin.request(sdk.customEndpoint({ method, path: `/extension-settings${path}`, ...more }));
    expect(await settings('POST', '', { body: JSON.stringify({ ...place, value: 'hello' }) })).to.equal(null);
    expect(await settings('GET', '', { params: { subject: place.subject } })).to.deep.equal([
      { scope: 'global', scope_key: '', key: 'greeting', value: 'hello' },
    ]);
    expect(await settings('GET', '/app', { params: { subject: place.subject } })).to.deep.equal({ greeting: 'hello' });
    expect(await anonymous.request(sdk.customEndpoint({ path: '/echo/greeting' }))).to.equal('hello');
    expect(await settings('DELETE', '', { body: JSON.stringify(place) })).to.deep.equal({ removed: 1 });
  });
});
