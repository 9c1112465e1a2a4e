import { expect } from 'chai';
import { createPackageFolder, createPackageJson, type PackageFolder } from '../plugins/extensions/package-folder.ts';
import { createTestUserAccount, makeRole, statusAndCodeOf } from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type ConfinedPackageFolder, createConfinedPackageFolder } from './confined-packages.ts';

const FULL = `export default { id: 'open', handler(router) { router.get('/', (req, res) => res.json({ works: true })); } };`;

describe('extensions that an admin switches off', function () {
  this.timeout(120_000);

  for (const kind of ['full authority', 'the confined runtime'] as const)
    describe(`with ${kind}`, () => {
      let place: PackageFolder | ConfinedPackageFolder;
      let service: InProcessService;
      let other: InProcessService;

      before(async () => {
        if (kind === 'full authority') {
          const manifest = { type: 'endpoint', path: 'dist/index.js', source: 'src/index.js', host: '^1.0.0' };
          place = await createPackageFolder({
            'service-extension-open/package.json': createPackageJson('service-extension-open', manifest),
            'service-extension-open/dist/index.js': FULL,
            'service-extension-open/src/index.js': FULL,
          });
        } else {
          const packages = await createConfinedPackageFolder();
          await packages.put(
            'service-extension-open',
            { type: 'endpoint', capabilities: { endpoint: { access: 'public' } } },
            `export default { id: 'open', handler: () => ({ body: { works: true } }) };`,
          );
          place = packages;
        }
        const env = { EXTENSIONS_PATH: place.path };
        service = await startService({ env });
        other = await startService({ env, database: service.database });
      });
      after(async () => {
        await other?.stop();
        await service?.stop();
        await place?.remove();
      });

      const admin = (method: string, path: string, body?: unknown, at = service) =>
        at.request(method, path, { token: service.admin.token, ...(body === undefined ? {} : { body }) });
      const row = async (at = service) => {
        const { body } = await admin('GET', '/extensions', undefined, at);
        return body.data.find(({ name }: { name: string }) => name === 'service-extension-open');
      };
      const statusAt = async (at: InProcessService) => (await at.request('GET', '/open')).status;

      it('answer in no process, are listed as discovered, and are loaded when they are enabled again', async () => {
        expect(await statusAt(service)).to.equal(200);
        const { id } = await row();
        const off = await admin('PATCH', `/extensions/${id}`, { meta: { enabled: false } });
        expect([off.status, off.body.data.status, off.body.data.meta.enabled]).to.deep.equal([
          200,
          'discovered',
          false,
        ]);
        expect(off.body.data).to.not.have.property('reason');
        expect(await statusAt(service)).to.equal(404);
        await until(async () => (await statusAt(other)) === 404);
        const on = await admin('PATCH', `/extensions/${id}`, { meta: { enabled: true } });
        expect([on.body.data.status, on.body.data.meta.enabled]).to.deep.equal(['loaded', true]);
        expect(await statusAt(service)).to.equal(200);
        await until(async () => (await statusAt(other)) === 200);
      });

      it('stay off after a restart, until what was decided about them is deleted', async () => {
        const { id } = await row();
        await admin('PATCH', `/extensions/${id}`, { meta: { enabled: false } });
        await other.stop();
        other = await startService({ env: { EXTENSIONS_PATH: place.path }, database: service.database });
        expect((await row(other)).meta.enabled).to.equal(false);
        expect(await statusAt(other)).to.equal(404);
        expect((await admin('DELETE', `/extensions/${id}`)).status).to.equal(204);
        expect([(await row()).status, await statusAt(service)]).to.deep.equal(['loaded', 200]);
      });
    });

  describe('requests', () => {
    let service: InProcessService;
    before(async () => {
      service = await startService();
    });
    after(() => service?.stop());

    it('are for admins, name an extension that there is, and have a decision', async () => {
      const { token } = await createTestUserAccount(service, await makeRole(service, { app_access: true }));
      const body = { meta: { enabled: false } };
      const id = '3f0c1b52-8a5e-4b0c-9d57-0a5f6f1f2a01';
      for (const by of [null, token, service.admin.token]) {
        const patched = await service.request('PATCH', `/extensions/${id}`, { token: by, body });
        expect(statusAndCodeOf(patched)).to.deep.equal([403, 'FORBIDDEN']);
        const deleted = await service.request('DELETE', `/extensions/${id}`, { token: by });
        expect(statusAndCodeOf(deleted)).to.deep.equal([403, 'FORBIDDEN']);
      }
      for (const wrong of [{}, { meta: {} }, { meta: { enabled: 'no' } }, { enabled: false }, []]) {
        const reply = await service.request('PATCH', `/extensions/${id}`, { token: service.admin.token, body: wrong });
        expect(statusAndCodeOf(reply), JSON.stringify(wrong)).to.deep.equal([400, 'INVALID_PAYLOAD']);
      }
    });
  });
});
