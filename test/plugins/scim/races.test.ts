import { expect } from 'chai';
import pg from 'pg';
import type { HttpReply } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { GROUP, PATCH, ROLES, type ScimFixture, startScimFixture, USER } from './scim-fixture.ts';

describe('SCIM beside a change of the same user', function () {
  this.timeout(120_000);
  let fixture: ScimFixture;
  before(async () => {
    fixture = await startScimFixture({ corp: { SCIM_LINK_LOCAL_USERS: 'true' } });
  });
  after(() => fixture?.stop());

  const patch = (path: string, ...Operations: readonly object[]) =>
    fixture.scim('PATCH', path, { schemas: [PATCH], Operations });

  /** Changes a user by SQL, and commits once the request waits for the row. */
  async function duringChange(id: string, change: string, send: () => Promise<HttpReply>): Promise<HttpReply> {
    const other = new pg.Client({ connectionString: fixture.service.database.url });
    await other.connect();
    try {
      await other.query('begin');
      await other.query(`update platform_users set ${change} where id = '${id}'`);
      const reply = send();
      const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await until(async () => (await fixture.service.database.query(waits)).length > 0);
      await other.query('commit');
      return await reply;
    } finally {
      await other.end();
    }
  }

  const promotion = `role = '${ROLES.admin}'`;

  for (const [title, send] of [
    ['is changed', (id: string) => patch(`/Users/${id}`, { op: 'replace', path: 'title', value: 'X' })],
    ['is deactivated', (id: string) => patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })],
    ['is deleted', (id: string) => fixture.scim('DELETE', `/Users/${id}`)],
    [
      'joins a group with a role',
      (id: string) =>
        fixture.scim('POST', '/Groups', { schemas: [GROUP], displayName: 'Editors', members: [{ value: id }] }),
    ],
  ] as const) {
    it(`leaves a user alone who becomes an admin while the user ${title}: 403`, async () => {
      const id = await fixture.createUser(`${crypto.randomUUID()}@example.com`);
      const { status } = await duringChange(id, promotion, () => send(id));
      expect(status).to.equal(403);
      expect(await fixture.row(id)).to.include({ role: ROLES.admin, status: 'active', title: null });
    });
  }

  it('takes over no local user who becomes an admin meanwhile', async () => {
    const email = 'promoted-local@example.com';
    const { token } = fixture.service.admin;
    const { id } = (await fixture.service.request('POST', '/users', { token, body: { email } })).body.data;
    const create = () => fixture.scim('POST', '/Users', { schemas: [USER], userName: email, title: 'X' });
    expect((await duringChange(id, promotion, create)).status).to.equal(403);
    expect(await fixture.row(id)).to.include({ provider: 'default', title: null });
  });

  it('changes no user who is given to another provider meanwhile: 404', async () => {
    const id = await fixture.createUser('given-away@example.com');
    const change = () => patch(`/Users/${id}`, { op: 'replace', path: 'title', value: 'X' });
    expect((await duringChange(id, `provider = 'other'`, change)).status).to.equal(404);
    expect(await fixture.row(id)).to.include({ title: null });
  });

  it('makes no user active who is archived meanwhile', async () => {
    const id = await fixture.createUser('archived-meanwhile@example.com', { active: false });
    const change = () => patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true });
    expect((await duringChange(id, `status = 'archived'`, change)).status).to.equal(403);
    expect(await fixture.row(id)).to.include({ status: 'archived' });
  });

  it('refuses If-Match of a version that an admin changes meanwhile', async () => {
    const id = await fixture.createUser('version-meanwhile@example.com');
    const etag = (await fixture.scim('GET', `/Users/${id}`)).headers.get('etag') as string;
    const body = { schemas: [USER], userName: 'version-meanwhile@example.com', title: 'X' };
    const put = () => fixture.scim('PUT', `/Users/${id}`, body, { headers: { 'if-match': etag } });
    expect((await duringChange(id, `title = 'Y'`, put)).status).to.equal(412);
  });

  it('never ends in a deadlock: changes of users, of groups and by an admin follow one another', async () => {
    const { service, scim } = fixture;
    const users = await Promise.all(['a', 'b', 'c'].map((name) => fixture.createUser(`lock-${name}@example.com`)));
    const group = (await scim('POST', '/Groups', { schemas: [GROUP], displayName: 'id-of-authors' })).body.id;
    const members = users.map((value) => ({ value }));
    for (let round = 0; round < 15; round++) {
      const replies = await Promise.all([
        ...users.map((id) => patch(`/Users/${id}`, { op: 'replace', path: 'active', value: round % 2 === 0 })),
        ...users.map((id) =>
          patch(`/Users/${id}`, { op: 'replace', path: 'userName', value: `${id}-${round}@x.example` }),
        ),
        patch(`/Groups/${group}`, { op: round % 2 === 0 ? 'add' : 'remove', path: 'members', value: members }),
        patch(`/Groups/${group}`, { op: 'replace', path: 'members', value: members.slice(0, 1 + (round % 3)) }),
        ...users.map((id) =>
          service.request('PATCH', `/users/${id}`, {
            token: service.admin.token,
            body: { status: round % 3 === 0 ? 'suspended' : 'active', title: `T${round}` },
          }),
        ),
      ]);
      expect(replies.map(({ status }) => status)).to.deep.equal(Array(replies.length).fill(200));
    }
  });
});
