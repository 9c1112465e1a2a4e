import { expect } from 'chai';
import {
  BUNDLE_MANIFEST,
  createPackageFolder,
  createPackageJson,
  PANEL_MANIFEST,
  type PackageFolder,
} from '../plugins/extensions/package-folder.ts';
import { createTestUserAccount, makeRole } from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';

const QUERY = '{ extensions { interfaces displays layouts modules } }';
const app = (type: string) => ({ ...PANEL_MANIFEST, type });
const entry = (type: string, name: string) => ({ type, name, source: 'src/index.js' });
const CODE = 'export default { id: "x" };';

describe('/graphql/system: extensions', function () {
  this.timeout(120_000);
  let place: PackageFolder;
  let service: InProcessService;
  const ask = (token: string | null) => service.request('POST', '/graphql/system', { token, body: { query: QUERY } });

  before(async () => {
    place = await createPackageFolder({
      'service-extension-map/package.json': createPackageJson('service-extension-map', app('interface')),
      'service-extension-map/dist/index.js': CODE,
      'service-extension-chart/package.json': createPackageJson('service-extension-chart', app('interface')),
      'service-extension-chart/dist/index.js': CODE,
      'service-extension-pane/package.json': createPackageJson('service-extension-pane', PANEL_MANIFEST),
      'service-extension-pane/dist/index.js': CODE,
      'service-extension-lost/package.json': createPackageJson('service-extension-lost', app('layout')),
      'service-extension-many/package.json': createPackageJson('service-extension-many', {
        ...BUNDLE_MANIFEST,
        entries: [entry('module', 'shop'), entry('interface', 'bunch'), entry('hook', 'watch')],
      }),
      'service-extension-many/dist/app.js': 'export const interfaces = []; export const modules = [];',
      'service-extension-many/dist/api.js':
        'export default { hooks: [{ name: "watch", config: () => {} }], endpoints: [], operations: [] };',
      'service-extension-half/package.json': createPackageJson('service-extension-half', {
        ...BUNDLE_MANIFEST,
        entries: [entry('module', 'gone'), entry('hook', 'stays')],
      }),
      'service-extension-half/dist/api.js':
        'export default { hooks: [{ name: "stays", config: () => {} }], endpoints: [], operations: [] };',
    });
    service = await startService({ env: { EXTENSIONS_PATH: place.path } });
  });
  after(async () => {
    await service?.stop();
    await place?.remove();
  });

  it('extensions are listed by kind, with parts of bundles, without those that failed to load', async () => {
    const rows = (await service.request('GET', '/extensions', { token: service.admin.token })).body.data;
    const states = rows.map((row: Record<string, string>) => [row.name, row.status]);
    expect(states).to.deep.include.members([
      ['service-extension-many', 'loaded'],
      ['service-extension-half', 'partial'],
      ['service-extension-lost', 'failed'],
    ]);
    expect((await ask(service.admin.token)).body).to.deep.equal({
      data: {
        extensions: {
          interfaces: ['bunch', 'service-extension-chart', 'service-extension-map'],
          displays: [],
          layouts: [],
          modules: ['shop'],
        },
      },
    });
  });

  it('extensions are listed for admins only, as by REST', async () => {
    const person = await createTestUserAccount(service, await makeRole(service, { app_access: true }));
    for (const token of [person.token, null]) {
      const { status, body } = await ask(token);
      expect([status, body.errors[0].extensions.code]).to.deep.equal([400, 'GRAPHQL_VALIDATION_EXCEPTION']);
    }
  });
});
