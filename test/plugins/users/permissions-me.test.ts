import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';
import {
  createTestPermission,
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
  type TestUserAccount,
} from './test-users.ts';

const FORBIDDEN = [403, 'FORBIDDEN'];
const ACTIONS = ['create', 'read', 'update', 'delete', 'share'];
const NONE = { access: 'none' };
const FULL = { access: 'full', fields: ['*'] };
const NOTHING = { update: { access: false }, delete: { access: false }, share: { access: false } };

describe('/roles/me and /permissions/me', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  let ann: TestUserAccount;
  let app: TestUserAccount;
  let plain: TestUserAccount;
  before(async function () {
    this.timeout(120_000);
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    await service.database.query(`
      create table article (id serial primary key, title text, body text, owner uuid, state text);
      create table page (id uuid primary key default gen_random_uuid(), title text);
      create table vault (id serial primary key, code text)`);
    const meta = { meta: { singleton: true } };
    expect((await admin('PATCH', '/collections/page', meta)).status).to.equal(200);
    const own = { owner: { _eq: '$CURRENT_USER' } };
    ann = await createTestUserAccount(
      service,
      await makeRole(service, {}, [
        { collection: 'article', action: 'create', fields: ['title'], presets: { state: 'draft' } },
        { collection: 'article', action: 'read', permissions: own },
        { collection: 'article', action: 'update', permissions: own, fields: ['title', 'body'], presets: { body: '' } },
        { collection: 'article', action: 'delete', permissions: { state: { _eq: 'draft' } } },
        { collection: 'article', action: 'share', permissions: { state: { _eq: 'public' } } },
        { collection: 'page', action: 'create', fields: ['title'], presets: { title: 'Start' } },
        { collection: 'page', action: 'update', permissions: { title: { _neq: 'locked' } }, fields: ['title'] },
      ]),
    );
    app = await createTestUserAccount(
      service,
      await makeRole(service, { app_access: true }, [
        {
          collection: 'platform_presets',
          action: 'update',
          permissions: { bookmark: { _eq: 'common' } },
          fields: ['search'],
        },
        { collection: 'platform_users', action: 'update', fields: ['*', 'token'] },
      ]),
    );
    plain = await createTestUserAccount(service, await makeRole(service));
    await service.database.query(`insert into article (title, owner, state) values
      ('hers', '${ann.id}', 'draft'), ('public', null, 'public'), ('hidden', null, null)`);
  });
  after(() => service?.stop());

  const dataOf = async (ask: SendAsUser, path: string) => {
    const reply = await ask('GET', path);
    expect(reply.status, `${path} ${JSON.stringify(reply.body)}`).to.equal(200);
    return reply.body.data;
  };

  it('answers the own role in a list, and its id alone where the caller may not read it', async () => {
    expect(await dataOf(app.ask, '/roles/me?fields=id,app_access')).to.deep.equal([{ id: app.role, app_access: true }]);
    expect(await dataOf(ann.ask, '/roles/me?fields=id,app_access')).to.deep.equal([{ id: ann.role }]);
    expect(await dataOf(admin, '/roles/me?fields=admin_access')).to.deep.equal([{ admin_access: true }]);
    const roleless = await createTestUserAccount(service, null as never);
    expect(await dataOf(roleless.ask, '/roles/me')).to.deep.equal([]);
    expect(statusAndCodeOf(await createUserSender(service, null)('GET', '/roles/me'))).to.deep.equal([
      401,
      'INVALID_CREDENTIALS',
    ]);
  });

  it('answers what a role may do in each collection, and leaves out those in which it may do nothing', async () => {
    expect(await dataOf(ann.ask, '/permissions/me')).to.deep.equal({
      article: {
        create: { access: 'full', fields: ['title'], presets: { state: 'draft' } },
        read: { access: 'partial', fields: ['*'] },
        update: { access: 'partial', fields: ['title', 'body'], presets: { body: '' } },
        delete: { access: 'partial' },
        share: { access: 'partial' },
      },
      page: {
        create: { access: 'full', fields: ['title'], presets: { title: 'Start' } },
        update: { access: 'partial', fields: ['title'] },
        read: NONE,
        delete: NONE,
        share: NONE,
      },
    });
    expect(await dataOf(plain.ask, '/permissions/me')).to.deep.equal({});
  });

  it('joins the rows of app access with the stored ones', async () => {
    const data = await dataOf(app.ask, '/permissions/me');
    expect(data.platform_presets.update).to.deep.equal({ access: 'partial', fields: ['*'] });
    expect(data.platform_presets.create).to.deep.equal({ ...FULL, presets: { user: '$CURRENT_USER' } });
    expect(data.platform_settings).to.deep.include({ read: FULL, update: NONE });
    expect(data.platform_users.update).to.deep.equal({ access: 'full', fields: ['*', 'token'] });
    expect(data).not.to.have.property('article');
  });

  it('answers everything to admins, of every collection', async () => {
    const data = await dataOf(admin, '/permissions/me');
    const all = Object.fromEntries(ACTIONS.map((action) => [action, FULL]));
    for (const name of ['article', 'page', 'vault', 'platform_users', 'platform_permissions'])
      expect(data[name], name).to.deep.equal(all);
  });

  it('answers the same by GraphQL', async () => {
    const ofGraphql = async (ask: SendAsUser) =>
      (await ask('POST', '/graphql/system', { query: '{ permissions_me }' })).body;
    for (const person of [ann, app, plain])
      expect((await ofGraphql(person.ask)).data.permissions_me).to.deep.equal(
        await dataOf(person.ask, '/permissions/me'),
      );
    expect((await ofGraphql(createUserSender(service, null))).errors[0].extensions.code).to.equal('FORBIDDEN');
  });

  it('answers what may be done with one item', async () => {
    const item = (id: unknown) => dataOf(ann.ask, `/permissions/me/article/${id}`);
    expect(await item(1)).to.deep.equal({
      update: { access: true, fields: ['title', 'body'], presets: { body: '' } },
      delete: { access: true },
      share: { access: false },
    });
    expect(await item(2)).to.deep.equal({ ...NOTHING, share: { access: true } });
    for (const id of [3, 4, 99999, 'x', '1e3']) expect(await item(id), String(id)).to.deep.equal(NOTHING);
    const everything = { update: { access: true, fields: ['*'] }, delete: { access: true }, share: { access: true } };
    expect(await dataOf(admin, '/permissions/me/article/3')).to.deep.equal(everything);
  });

  it('answers by which fields an item may be changed where two permissions hold for different rows', async () => {
    const preset = (more: object) => admin('POST', '/presets', { collection: 'article', ...more });
    const own = (await preset({ user: app.id })).body.data.id;
    const common = (await preset({ bookmark: 'common' })).body.data.id;
    const both = (await preset({ user: app.id, bookmark: 'common' })).body.data.id;
    const fieldsOf = async (id: number) => (await dataOf(app.ask, `/permissions/me/platform_presets/${id}`)).update;
    expect(await fieldsOf(own)).to.deep.equal({ access: true, fields: ['*'] });
    expect(await fieldsOf(common)).to.deep.equal({ access: true, fields: ['search'] });
    expect(await fieldsOf(both)).to.deep.equal({ access: true, fields: ['*'] });
  });

  it('answers the same as the writes themselves', async () => {
    for (const id of [1, 2, 3]) {
      const { update } = await dataOf(ann.ask, `/permissions/me/article/${id}`);
      const { status } = await ann.ask('PATCH', `/items/article/${id}`, { body: 'tried' });
      expect([id, status === 200 || status === 204]).to.deep.equal([id, update.access]);
    }
  });

  it('answers for a singleton without a key, before and after its row is there', async () => {
    const page = () => dataOf(ann.ask, '/permissions/me/page');
    expect(await page()).to.deep.equal({
      ...NOTHING,
      update: { access: true, fields: ['title'], presets: { title: 'Start' } },
    });
    expect((await admin('PATCH', '/items/page', { title: 'open' })).status).to.equal(200);
    expect(await page()).to.deep.equal({ ...NOTHING, update: { access: true, fields: ['title'] } });
    expect((await admin('PATCH', '/items/page', { title: 'locked' })).status).to.equal(200);
    expect(await page()).to.deep.equal(NOTHING);
  });

  it('does not tell a collection that a caller may do nothing in from one that does not exist', async () => {
    for (const path of ['vault', 'vault/1', 'nowhere', 'nowhere/1', 'platform_sessions'])
      expect(await dataOf(ann.ask, `/permissions/me/${path}`), path).to.deep.equal(NOTHING);
    expect(statusAndCodeOf(await admin('GET', '/permissions/me/nowhere/1'))).to.deep.equal(FORBIDDEN);
  });

  it('refuses anonymous callers, also where the Public role has permissions', async () => {
    const id = await createTestPermission(service, null, { collection: 'article', action: 'update' });
    for (const path of ['/permissions/me', '/permissions/me/article', '/permissions/me/article/1'])
      expect(statusAndCodeOf(await createUserSender(service, null)('GET', path)), path).to.deep.equal(FORBIDDEN);
    expect((await admin('DELETE', `/permissions/${id}`)).status).to.equal(204);
  });
});
