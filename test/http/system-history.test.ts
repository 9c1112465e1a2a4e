import { expect } from 'chai';
import {
  createTestPermission,
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  statusAndCodeOf,
  type TestUserAccount,
} from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';

const FORBIDDEN = [403, 'FORBIDDEN'];
const NO_ROUTE = [404, 'ROUTE_NOT_FOUND'];

describe('/activity and /revisions', () => {
  let service: InProcessService;
  let admin: SendAsUser;
  let ann: TestUserAccount;
  before(async () => {
    service = await startService();
    admin = createUserSender(service, service.admin.token);
    const fields = [{ field: 'title', type: 'string' }];
    expect((await admin('POST', '/collections', { collection: 'article', schema: {}, fields })).status).to.equal(200);
    const writing = ['create', 'read', 'update', 'delete'].map((action) => ({ collection: 'article', action }));
    ann = await createTestUserAccount(service, await makeRole(service, { app_access: true }, writing));
    await ann.ask('POST', '/items/article', { title: 'first' });
    await ann.ask('PATCH', '/items/article/1', { title: 'second' });
    await admin('PATCH', '/items/article/1', { title: 'third' });
  });
  after(() => service?.stop());

  const OF_ARTICLE = 'filter[collection]=article&filter[item]=1&sort=id';

  it('answer who did what to an item, and its values at that time', async () => {
    const { body } = await admin('GET', `/activity?${OF_ARTICLE}&fields=id,action,user,revisions.data`);
    const [create, ...updates] = body.data;
    expect(create).to.deep.include({ action: 'create', user: ann.id });
    expect(updates.map((one: { action: string }) => one.action)).to.deep.equal(['update', 'update']);
    expect(updates[1].user).not.to.equal(ann.id);
    expect(
      updates.map((one: { revisions: { data: { title: string } }[] }) => one.revisions[0]?.data.title),
    ).to.deep.equal(['second', 'third']);
    expect((await admin('GET', `/activity/${create.id}?fields=action`)).body.data).to.deep.equal({ action: 'create' });
    const search = { query: { filter: { user: { _eq: ann.id } }, fields: ['action'], sort: ['id'] } };
    expect((await admin('SEARCH', '/activity', { ...search })).body.data).to.deep.equal([
      { action: 'create' },
      { action: 'update' },
    ]);
    const revisions = await admin('GET', `/revisions?${OF_ARTICLE}&fields=id,delta,activity.action`);
    expect(revisions.body.data.map(({ delta }: { delta: { title: string } }) => delta.title)).to.deep.equal([
      'first',
      'second',
      'third',
    ]);
    const { id } = revisions.body.data[0];
    expect((await admin('GET', `/revisions/${id}?fields=item`)).body.data).to.deep.equal({ item: '1' });
    const [last] = (await admin('SEARCH', '/revisions', { query: { sort: ['-id'], limit: 1, fields: ['id'] } })).body
      .data;
    expect(last.id).to.be.at.least(id);
  });

  it('show and find the values of a new row as its delta, which the database stores once', async () => {
    const first = 'filter[collection]=article&filter[item]=1&filter[activity][action]=create';
    const read = async (query: string) => {
      const { status, body } = await admin('GET', `/revisions?${first}&${query}`);
      expect(status, `${query} ${JSON.stringify(body)}`).to.equal(200);
      return body.data;
    };
    const values = { id: 1, title: 'first' };
    expect(await read('fields=delta,data')).to.deep.equal([{ delta: values, data: values }]);
    expect(await read('fields=json(delta,title),delta&filter[delta][_json][title][_eq]=first')).to.deep.equal([
      { delta_title_json: 'first', delta: values },
    ]);
    expect(await read('fields=item&filter[delta][_nnull]=true')).to.deep.equal([{ item: '1' }]);
    expect(await read('fields=item&filter[delta][_null]=true')).to.deep.equal([]);
    expect(await read('aggregate[count]=delta')).to.deep.equal([{ count: { delta: 1 } }]);
    const document =
      '{ revisions(filter: { collection: { _eq: "article" }, item: { _eq: "1" } }, sort: ["id"], limit: 1) { delta data } }';
    const { data, errors } = (await admin('POST', '/graphql/system', { query: document })).body;
    expect(errors).to.equal(undefined);
    expect(data.revisions).to.deep.equal([{ delta: values, data: values }]);
    const stored = await service.database.query(
      `select r.delta, r.data::text = $1 as whole from platform_revisions r join platform_activity a on a.id = r.activity
       where r.collection = 'article' and r.item = '1' and a.action = 'create'`,
      [JSON.stringify(values)],
    );
    expect(stored).to.deep.equal([{ delta: null, whole: true }]);
  });

  it('have no routes that write', async () => {
    const row = { action: 'create', collection: 'article', item: '1' };
    for (const path of ['/activity', '/revisions']) {
      expect(statusAndCodeOf(await admin('POST', path, row)), path).to.deep.equal(NO_ROUTE);
      expect(statusAndCodeOf(await admin('PATCH', path, { keys: [1], data: row })), path).to.deep.equal(NO_ROUTE);
      expect(statusAndCodeOf(await admin('PATCH', `${path}/1`, row)), path).to.deep.equal(NO_ROUTE);
      expect(statusAndCodeOf(await admin('DELETE', path, [1])), path).to.deep.equal(NO_ROUTE);
      expect(statusAndCodeOf(await admin('DELETE', `${path}/1`)), path).to.deep.equal(NO_ROUTE);
    }
  });

  it('reject writes through relations, for admins too', async () => {
    const field = { field: 'entry', type: 'integer' };
    expect(
      (await admin('POST', '/collections', { collection: 'forged', schema: {}, fields: [field] })).status,
    ).to.equal(200);
    const relation = { collection: 'forged', field: 'entry', related_collection: 'platform_activity' };
    const created = await admin('POST', '/relations', { ...relation, schema: { on_delete: 'NO ACTION' } });
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    const [{ id }] = (await admin('GET', `/activity?${OF_ARTICLE}&fields=id`)).body.data;
    for (const entry of [
      { action: 'login', collection: 'platform_users', item: '1' },
      { id, user: null },
    ]) {
      expect(statusAndCodeOf(await admin('POST', '/items/forged', { entry })), JSON.stringify(entry)).to.deep.equal(
        FORBIDDEN,
      );
    }
    expect((await admin('GET', '/items/forged')).body.data).to.deep.equal([]);
    expect((await admin('GET', `/activity/${id}?fields=user`)).body.data).to.deep.equal({ user: ann.id });
  });

  it('answer app users their own activity', async () => {
    const { body } = await ann.ask('GET', `/activity?fields=user,action&sort=id&${OF_ARTICLE}`);
    expect(body.data).to.deep.equal([
      { user: ann.id, action: 'create' },
      { user: ann.id, action: 'update' },
    ]);
    const [other] = (await admin('GET', `/activity?filter[user][_neq]=${ann.id}&limit=1&fields=id`)).body.data;
    expect(statusAndCodeOf(await ann.ask('GET', `/activity/${other.id}`))).to.deep.equal(FORBIDDEN);
    expect(statusAndCodeOf(await ann.ask('GET', '/revisions'))).to.deep.equal(FORBIDDEN);
  });

  it('hide from app users their own activity in collections that their role may not read', async () => {
    const fields = [{ field: 'code', type: 'string' }];
    expect((await admin('POST', '/collections', { collection: 'secret', schema: {}, fields })).status).to.equal(200);
    const role = await makeRole(service, { app_access: true }, [
      { collection: 'secret', action: 'create' },
      { collection: 'article', action: 'create' },
      { collection: 'article', action: 'read' },
    ]);
    const ben = await createTestUserAccount(service, role);
    expect((await ben.ask('POST', '/items/secret', { code: 'x' })).status).to.equal(204);
    expect((await ben.ask('POST', '/items/article', { title: 'his' })).status).to.equal(200);
    const [hidden] = (await admin('GET', `/activity?filter[user]=${ben.id}&filter[collection]=secret&fields=id`)).body
      .data;
    const seen = async () => {
      const count = await ben.ask('GET', '/activity?aggregate[count]=*');
      const groups = await ben.ask('GET', '/activity?aggregate[count]=*&groupBy=collection&sort=collection');
      const listed = await ben.ask('GET', '/activity?fields=collection,revisions.data&sort=collection&meta=*');
      const document = '{ activity(sort: ["collection"]) { collection } activity_aggregated { count { id } } }';
      const { data } = (await ben.ask('POST', '/graphql/system', { query: document })).body;
      return {
        counted: count.body.data[0].count,
        groups: groups.body.data.map((one: { collection: string }) => one.collection),
        listed: listed.body.data,
        total: listed.body.meta.total_count,
        graphql: data.activity.map((one: { collection: string }) => one.collection),
        graphqlCount: data.activity_aggregated[0].count.id,
        byKey: (await ben.ask('GET', `/activity/${hidden.id}`)).status,
      };
    };
    expect(await seen()).to.deep.equal({
      ...{ counted: 1, groups: ['article'], listed: [{ collection: 'article' }], total: 1 },
      ...{ graphql: ['article'], graphqlCount: 1, byKey: 403 },
    });
    const rows = (await ben.ask('GET', '/permissions')).body.data;
    const rule = rows.find(
      (one: { collection: string; action: string }) => one.collection === 'platform_activity' && one.action === 'read',
    );
    expect(JSON.stringify(rule.permissions)).to.include('"article"').and.not.include('secret');
    await createTestPermission(service, role, { collection: 'secret', action: 'read' });
    expect(await seen()).to.deep.include({ counted: 2, graphql: ['article', 'secret'], byKey: 200, total: 2 });
  });

  it('reject anonymous callers', async () => {
    for (const path of ['/activity', '/activity/1', '/revisions', '/revisions/1']) {
      expect(statusAndCodeOf(await createUserSender(service, null)('GET', path)), path).to.deep.equal(FORBIDDEN);
    }
  });

  it('answer the activity of a comment', async () => {
    const comment = { collection: 'article', item: 1, comment: 'Well said' };
    expect((await ann.ask('POST', '/comments', comment)).status).to.equal(200);
    const { body } = await admin('GET', '/activity?filter[action]=comment&fields=user,collection,item,comment');
    expect(body.data).to.deep.equal([{ user: ann.id, ...comment, item: '1' }]);
  });

  it('the activity of a deleted user is kept', async () => {
    const { id, ask } = await createTestUserAccount(service, ann.role);
    await ask('POST', '/items/article', { title: 'left behind' });
    expect((await admin('DELETE', `/users/${id}`)).status).to.equal(204);
    const { body } = await admin('GET', `/activity?filter[user]=${id}&filter[collection]=article&fields=action`);
    expect(body.data).to.deep.equal([{ action: 'create' }]);
  });
});
