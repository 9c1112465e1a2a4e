import { expect } from 'chai';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';

describe('/settings', () => {
  let service: InProcessService;
  let other: InProcessService;
  let admin: SendAsUser;
  before(async () => {
    service = await startService();
    other = await startService({ database: service.database });
    admin = createUserSender(service, service.admin.token);
  });
  after(async () => {
    await other?.stop();
    await service?.stop();
  });
  beforeEach(() => service.database.query('delete from platform_settings'));

  const project = async (of: InProcessService) => (await of.request('GET', '/server/info')).body.data.project;

  it('answers defaults before the first write', async () => {
    const { status, body } = await admin('GET', '/settings');
    expect(status).to.equal(200);
    expect(body.data).to.include({
      project_name: 'Tenon',
      default_language: 'en-US',
      auth_login_attempts: 25,
      storage_asset_transform: 'all',
    });
  });

  it('holds one row, after any number of sequential and concurrent writes', async () => {
    const writes = Array.from({ length: 6 }, (_, at) =>
      admin('PATCH', '/settings', { project_url: `https://${at}.example` }),
    );
    expect((await Promise.all(writes)).map(({ status }) => status)).to.deep.equal(Array(6).fill(200));
    expect((await admin('PATCH', '/settings', { project_name: 'Museum' })).body.data).to.include({
      id: 1,
      project_name: 'Museum',
    });
    expect(await service.database.query('select id from platform_settings')).to.have.length(1);
  });

  it('has no routes of lists', async () => {
    for (const [method, path] of [
      ['POST', '/settings'],
      ['DELETE', '/settings'],
      ['GET', '/settings/1'],
      ['PATCH', '/settings/1'],
    ] as const) {
      expect([
        method,
        path,
        statusAndCodeOf(await admin(method, path, method === 'GET' ? undefined : {})),
      ]).to.deep.equal([method, path, [404, 'ROUTE_NOT_FOUND']]);
    }
  });

  it('changes are visible in /server/info of every process, also changes made by SQL', async () => {
    expect((await project(service)).project_name).to.equal('Tenon');
    await admin('PATCH', '/settings', { project_name: 'Museum', project_color: '#123456' });
    expect(await project(service)).to.include({ project_name: 'Museum', project_color: '#123456' });
    await service.database.query(`update platform_settings set project_name = 'Archive'`);
    const deadline = Date.now() + 30_000;
    while ((await project(other)).project_name !== 'Archive') expect(Date.now()).to.be.lessThan(deadline);
    while ((await project(service)).project_name !== 'Archive') expect(Date.now()).to.be.lessThan(deadline);
  });

  it('rejects presets with duplicate keys', async () => {
    const set = async (presets: unknown) => {
      const reply = await admin('PATCH', '/settings', { storage_asset_presets: presets });
      return reply.status === 200 ? 200 : [reply.status, reply.body.errors[0].extensions.path];
    };
    expect(
      await set([
        { key: 'card', width: 320 },
        { key: 'cover', width: 800 },
      ]),
    ).to.equal(200);
    expect(await set(null)).to.equal(200);
    expect(await set({})).to.deep.equal([400, ['storage_asset_presets']]);
    expect(await set([1])).to.deep.equal([400, ['storage_asset_presets', 0]]);
    expect(await set([{ width: 1 }])).to.deep.equal([400, ['storage_asset_presets', 0, 'key']]);
    expect(await set([{ key: 'a' }, { key: 'a' }])).to.deep.equal([400, ['storage_asset_presets', 1, 'key']]);
    expect(await set([{ key: 'system-small-cover' }])).to.deep.equal([400, ['storage_asset_presets', 0, 'key']]);
  });

  it('allows roles with app access to read, and roles with a permission to write', async () => {
    const role = await makeRole(service, { app_access: true });
    const person = (await createTestUserAccount(service, role)).ask;
    expect((await person('GET', '/settings?fields=project_name')).body.data).to.deep.equal({ project_name: 'Tenon' });
    expect(statusAndCodeOf(await person('PATCH', '/settings', { project_name: 'Mine' }))).to.deep.equal([
      403,
      'FORBIDDEN',
    ]);
    expect(statusAndCodeOf(await createUserSender(service, null)('GET', '/settings'))).to.deep.equal([
      403,
      'FORBIDDEN',
    ]);
  });

  it('refers to files and folders that can be deleted', async () => {
    const folder = (await admin('POST', '/folders', { name: 'Uploads' })).body.data.id;
    await admin('PATCH', '/settings', { storage_default_folder: folder });
    expect((await admin('DELETE', `/folders/${folder}`)).status).to.equal(204);
    expect((await admin('GET', '/settings?fields=storage_default_folder')).body.data).to.deep.equal({
      storage_default_folder: null,
    });
  });

  it('is read and changed by GraphQL', async () => {
    const reply = await admin('POST', '/graphql/system', {
      query: 'mutation { update_settings(data: { project_name: "Museum" }) { project_name } }',
    });
    expect(reply.body).to.deep.equal({ data: { update_settings: { project_name: 'Museum' } } });
    const read = await admin('POST', '/graphql/system', { query: '{ settings { project_name default_language } }' });
    expect(read.body).to.deep.equal({ data: { settings: { project_name: 'Museum', default_language: 'en-US' } } });
  });
});
