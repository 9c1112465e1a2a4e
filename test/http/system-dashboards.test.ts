import { expect } from 'chai';
import {
  createTestUserAccount,
  createUserSender,
  errorCodeOf,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
} from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';

const FORBIDDEN = [403, 'FORBIDDEN'];
const panel = { type: 'metric', position_x: 1, position_y: 2, width: 10, height: 5 };
const all = (collection: string) => ['create', 'read', 'update', 'delete'].map((action) => ({ collection, action }));

describe('/dashboards and /panels', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  let adminId: string;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    adminId = (await admin('GET', '/users/me')).body.data.id;
  });
  after(() => service?.stop());
  beforeEach(() => service.database.query('truncate platform_dashboards cascade'));

  it('create, read and delete a dashboard together with its panels', async () => {
    const created = await admin('POST', '/dashboards?fields=*,panels.*', {
      name: 'Sales',
      panels: [{ ...panel, options: { collection: 'orders' } }],
    });
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    const { id, date_created, panels } = created.body.data;
    expect(created.body.data).to.deep.include({
      name: 'Sales',
      icon: 'dashboard',
      note: null,
      color: null,
      user_created: adminId,
    });
    expect(new Date(date_created).getTime()).to.be.closeTo(Date.now(), 60_000);
    expect(panels).to.have.length(1);
    expect(panels[0]).to.deep.include({
      ...panel,
      dashboard: id,
      name: null,
      show_header: false,
      options: { collection: 'orders' },
      user_created: adminId,
    });
    expect((await admin('DELETE', `/dashboards/${id}`)).status).to.equal(204);
    expect((await admin('GET', '/panels')).body.data).to.deep.equal([]);
  });

  it('delete the panels that a list omits', async () => {
    const created = await admin('POST', '/dashboards?fields=id,panels.id', { name: 'Sales', panels: [panel, panel] });
    const { id, panels } = created.body.data;
    expect((await admin('PATCH', `/dashboards/${id}`, { panels: [panels[1].id] })).status).to.equal(200);
    const left = (await admin('GET', '/panels?fields=id')).body.data;
    expect(left).to.deep.equal([{ id: panels[1].id }]);
  });

  it('create, change and delete single panels', async () => {
    const { id: dashboard } = (await admin('POST', '/dashboards', { name: 'One' })).body.data;
    const { id } = (await admin('POST', '/panels', { ...panel, dashboard })).body.data;
    const rows = await admin('PATCH', '/panels', [{ id, position_x: 7, show_header: true }]);
    expect(rows.body.data[0]).to.include({ position_x: 7, show_header: true });
    expect((await admin('GET', '/panels?fields=dashboard.name')).body.data).to.deep.equal([
      { dashboard: { name: 'One' } },
    ]);
    const more = { panels: { create: [{ ...panel, name: 'Two' }], update: [{ id, name: 'First' }] } };
    const { body } = await admin('PATCH', `/dashboards/${dashboard}?fields=panels.name`, more);
    expect(body.data.panels).to.have.deep.members([{ name: 'First' }, { name: 'Two' }]);
    expect((await admin('DELETE', `/panels/${id}`)).status).to.equal(204);
    expect((await admin('GET', `/dashboards/${dashboard}?fields=panels.name`)).body.data).to.deep.equal({
      panels: [{ name: 'Two' }],
    });
  });

  it('reject invalid rows, and then store nothing', async () => {
    expect(errorCodeOf(await admin('POST', '/dashboards', {}))).to.equal('FAILED_VALIDATION');
    expect(errorCodeOf(await admin('POST', '/dashboards', { name: 'x', size: 3 }))).to.equal('INVALID_PAYLOAD');
    expect(errorCodeOf(await admin('POST', '/panels', panel))).to.equal('FAILED_VALIDATION');
    const dashboard = '11111111-1111-4111-8111-111111111111';
    expect(errorCodeOf(await admin('POST', '/panels', { ...panel, dashboard }))).to.equal('INVALID_FOREIGN_KEY');
    const { type: _type, ...untyped } = panel;
    const nested = await admin('POST', '/dashboards', { name: 'x', panels: [untyped] });
    expect(nested.body.errors[0].extensions).to.deep.include({ code: 'FAILED_VALIDATION', type: 'required' });
    expect((await admin('GET', '/dashboards')).body.data).to.deep.equal([]);
  });

  it('keep dashboards when their creator is deleted', async () => {
    const role = await makeRole(service, {}, [...all('platform_dashboards'), ...all('platform_panels')]);
    const { id: user, ask } = await createTestUserAccount(service, role);
    const created = await ask('POST', '/dashboards?fields=id,user_created,panels.user_created', {
      name: 'x',
      panels: [panel],
    });
    expect(created.body.data).to.deep.include({ user_created: user, panels: [{ user_created: user }] });
    expect((await admin('DELETE', `/users/${user}`)).status).to.equal(204);
    const path = `/dashboards/${created.body.data.id}?fields=user_created,panels.user_created`;
    expect((await admin('GET', path)).body.data).to.deep.equal({
      user_created: null,
      panels: [{ user_created: null }],
    });
  });

  it('apply the permissions of the caller', async () => {
    const { id } = (await admin('POST', '/dashboards', { name: 'kept' })).body.data;
    const app = await createTestUserAccount(service, await makeRole(service, { app_access: true }));
    for (const ask of [createUserSender(service, null), app.ask]) {
      expect(statusAndCodeOf(await ask('GET', '/dashboards'))).to.deep.equal(FORBIDDEN);
      expect(statusAndCodeOf(await ask('GET', `/dashboards/${id}`))).to.deep.equal(FORBIDDEN);
      expect(statusAndCodeOf(await ask('POST', '/dashboards', { name: 'x' }))).to.deep.equal(FORBIDDEN);
      expect(statusAndCodeOf(await ask('GET', '/panels'))).to.deep.equal(FORBIDDEN);
      expect(statusAndCodeOf(await ask('POST', '/panels', { ...panel, dashboard: id }))).to.deep.equal(FORBIDDEN);
    }
    const { ask } = await createTestUserAccount(service, await makeRole(service, {}, all('platform_dashboards')));
    expect(statusAndCodeOf(await ask('POST', '/dashboards', { name: 'x', panels: [panel] }))).to.deep.equal(FORBIDDEN);
    expect((await ask('PATCH', `/dashboards/${id}`, { name: 'mine' })).body.data.name).to.equal('mine');
  });
});
