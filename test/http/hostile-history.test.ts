import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from './test-users.ts';

interface Activity {
  readonly invocation: string;
  readonly owner: string | null;
  readonly user: string | null;
  readonly user_agent: string | null;
}

describe('activity and revisions cannot be falsified', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  let person: TestUserWithToken;
  let adminId: string;
  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('hostile_history');
    service = await startService({ database });
    await database.query(`
      create table note (id serial primary key, text text);
      create table holder (id serial primary key, a int references platform_activity, r int references platform_revisions,
        n int references platform_notifications, u uuid references platform_users);
      create table anything (id serial primary key, item text, collection text)`);
    await requestAsAdmin(service, 'POST', '/relations', {
      collection: 'anything',
      field: 'item',
      related_collection: null,
      meta: {
        one_collection_field: 'collection',
        one_allowed_collections: ['note', 'platform_activity', 'platform_revisions', 'platform_notifications'],
      },
    });
    adminId = (await requestAsAdmin(service, 'GET', '/users/me?fields=id')).id;
    const all = (collection: string) =>
      (['create', 'read', 'update', 'delete'] as const).map((action) => ({ collection, action }));
    const names = ['note', 'holder', 'anything', 'platform_activity', 'platform_revisions', 'platform_notifications'];
    person = await createUserWithPermissions(service, names.flatMap(all));
    await requestAsAdmin(service, 'POST', '/items/note', { text: 'first' });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const send = (token: string, method: string, path: string, body?: unknown, headers = {}) =>
    service.request(method, path, { token, body, headers });

  it('activity and revisions cannot be falsified by sending the request id of another request', async () => {
    for (let round = 0; round < 2; round++) {
      const reply = await send(person.token, 'POST', '/items/note', { text: 'mine' }, { 'x-request-id': 'the-same' });
      expect(reply.headers.get('x-request-id')).to.equal('the-same');
    }
    const rows = await database.query<Activity>(
      `select invocation from platform_activity where "user" = $1 and collection = 'note'`,
      [person.id],
    );
    expect(rows).to.have.length(2);
    for (const { invocation } of rows) expect(invocation).to.match(/^\S+ the-same$/);
    expect(new Set(rows.map(({ invocation }) => invocation)).size).to.equal(2);
    // An x-request-id with a space in it is not recorded: the activity has the id of the service only.
    await send(person.token, 'POST', '/items/note', { text: 'x' }, { 'x-request-id': `${rows[0]?.invocation}` });
    const [last] = await database.query<Activity>('select invocation from platform_activity order by id desc limit 1');
    expect(last?.invocation).to.match(/^\S+$/);
  });

  it('activity and revisions cannot be falsified by writing activity or revisions, directly or nested, not even by an admin', async () => {
    const stored = async () => [
      await database.query('select * from platform_activity order by id'),
      await database.query('select * from platform_revisions order by id'),
    ];
    const before = await stored();
    const forged = { action: 'login', collection: 'note', item: '1', comment: 'x' };
    const bodies: readonly [path: string, body: object][] = [
      ['/items/holder', { a: forged }],
      ['/items/holder', { a: { id: 1, comment: 'x' } }],
      ['/items/holder', { a: { id: 1, revisions: [] } }],
      ['/items/holder', { a: { id: 1, revisions: { delete: [1] } } }],
      ['/items/holder', { r: { activity: 1, collection: 'note', item: '1', data: {} } }],
      ['/items/holder', { r: { id: 1, data: {} } }],
      ['/items/holder', { r: { id: 1, activity: { id: 1, comment: 'x' } } }],
      ['/items/anything', { collection: 'platform_activity', item: forged }],
      ['/items/anything', { collection: 'platform_activity', item: { id: 1, comment: 'x' } }],
      ['/items/anything', { collection: 'platform_revisions', item: { id: 1, data: {} } }],
    ];
    for (const token of [person.token, service.admin.token]) {
      for (const [path, body] of bodies) {
        const { status } = await send(token, 'POST', path, body);
        expect(status, JSON.stringify(body)).to.equal(403);
      }
      for (const method of ['POST', 'PATCH', 'DELETE']) {
        for (const path of ['/activity', '/revisions', '/activity/1', '/revisions/1'])
          expect((await send(token, method, path, {})).status, `${method} ${path}`).to.equal(404);
        for (const path of ['/items/platform_activity', '/items/platform_revisions'])
          expect((await send(token, method, path, {})).status, `${method} ${path}`).to.equal(403);
      }
    }
    expect(await stored()).to.deep.equal(before);
  });

  it('activity and revisions cannot be falsified by choosing the sender of a notification', async () => {
    const notice = { recipient: adminId, subject: 'x', sender: adminId, timestamp: '2000-01-01T00:00:00Z' };
    for (const [path, body] of [
      ['/notifications', notice],
      ['/items/holder', { n: notice }],
      ['/items/anything', { collection: 'platform_notifications', item: notice }],
    ] as const) {
      expect((await send(person.token, 'POST', path, body)).status).to.equal(200);
    }
    const [first] = await database.query<{ id: number }>('select id from platform_notifications');
    expect((await send(person.token, 'PATCH', `/notifications/${first?.id}`, notice)).status).to.equal(200);
    const rows = await database.query(
      'select distinct sender, timestamp > now() - interval $$1 hour$$ as recent from platform_notifications',
    );
    expect(rows).to.deep.equal([{ sender: person.id, recent: true }]);
  });
});
