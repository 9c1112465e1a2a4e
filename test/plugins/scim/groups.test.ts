import { expect } from 'chai';
import { GROUP, OTHER_TOKEN, PATCH, ROLES, type ScimFixture, startScimFixture, USER } from './scim-fixture.ts';

describe('SCIM /Groups', function () {
  this.timeout(120_000);
  let fixture: ScimFixture;
  let names = 0;
  before(async () => {
    fixture = await startScimFixture();
  });
  after(() => fixture?.stop());

  const createUser = () => fixture.createUser(`member-${names++}@example.com`);
  const roleOf = async (id: string) => (await fixture.row(id))?.role;
  const patch = (id: string, ...Operations: readonly object[]) =>
    fixture.scim('PATCH', `/Groups/${id}`, { schemas: [PATCH], Operations });

  async function createGroup(displayName: string, members: readonly string[] = [], more: object = {}): Promise<string> {
    const body = { schemas: [GROUP], displayName, members: members.map((value) => ({ value })), ...more };
    const reply = await fixture.scim('POST', '/Groups', body);
    expect(reply.status, JSON.stringify(reply.body)).to.equal(201);
    return reply.body.id;
  }

  it('creates a group, and answers it with its members', async () => {
    const [ann, bob] = [await createUser(), await createUser()];
    const id = await createGroup('Readers', [ann, bob], { externalId: 'ext' });
    const { body, headers } = await fixture.scim('GET', `/Groups/${id}`);
    expect(body).to.deep.include({ schemas: [GROUP], id, displayName: 'Readers', externalId: 'ext' });
    expect(body.members.map((one: { value: string }) => one.value)).to.have.members([ann, bob]);
    expect(body.members[0].$ref).to.equal(
      `${body.meta.location.replace(/Groups.*/, '')}Users/${body.members[0].value}`,
    );
    expect(headers.get('etag')).to.equal(body.meta.version);
    const user = (await fixture.scim('GET', `/Users/${ann}`)).body;
    expect(user.groups.map((one: { display: string }) => one.display)).to.deep.equal(['Readers']);
    expect((await fixture.scim('GET', `/Groups/${id}?excludedAttributes=members`)).body).not.to.have.property(
      'members',
    );
    const twin = await fixture.scim('POST', '/Groups', { schemas: [GROUP], displayName: 'READERS' });
    expect([twin.status, twin.body.scimType]).to.deep.equal([409, 'uniqueness']);
    await fixture.scim('DELETE', `/Groups/${id}`);
  });

  it('gives members the role that ROLE_MAPPING has for the name of the group, and takes it away', async () => {
    const ann = await createUser();
    const id = await createGroup('Editors');
    expect(await roleOf(ann)).to.equal(ROLES.member);
    expect((await patch(id, { op: 'Add', path: 'members', value: [{ value: ann }] })).status).to.equal(200);
    expect(await roleOf(ann)).to.equal(ROLES.editor);
    await patch(id, { op: 'remove', path: `members[value eq "${ann}"]` });
    expect(await roleOf(ann)).to.equal(ROLES.member);
    await fixture.scim('DELETE', `/Groups/${id}`);
  });

  it('finds the role by the externalId of a group as well', async () => {
    const ann = await createUser();
    const id = await createGroup('Whatever', [ann], { externalId: 'id-of-authors' });
    expect(await roleOf(ann)).to.equal(ROLES.author);
    await fixture.scim('DELETE', `/Groups/${id}`);
    expect(await roleOf(ann)).to.equal(ROLES.member);
  });

  it('decides between several groups by the order of the mapping', async () => {
    const ann = await createUser();
    const authors = await createGroup('Authors', [ann], { externalId: 'id-of-authors' });
    const editors = await createGroup('Editors', [ann]);
    expect(await roleOf(ann)).to.equal(ROLES.editor);
    await fixture.scim('DELETE', `/Groups/${editors}`);
    expect(await roleOf(ann)).to.equal(ROLES.author);
    await fixture.scim('DELETE', `/Groups/${authors}`);
  });

  it('changes the roles of all members when a group is renamed', async () => {
    const [ann, bob] = [await createUser(), await createUser()];
    const id = await createGroup('Plain', [ann, bob]);
    expect((await patch(id, { op: 'replace', value: { id, displayName: 'Editors' } })).body.displayName).to.equal(
      'Editors',
    );
    expect([await roleOf(ann), await roleOf(bob)]).to.deep.equal([ROLES.editor, ROLES.editor]);
    await patch(id, { op: 'replace', path: 'displayName', value: 'Plain again' });
    expect([await roleOf(ann), await roleOf(bob)]).to.deep.equal([ROLES.member, ROLES.member]);
    await fixture.scim('DELETE', `/Groups/${id}`);
  });

  it('replaces all members by PUT', async () => {
    const [ann, bob] = [await createUser(), await createUser()];
    const id = await createGroup('Editors', [ann]);
    const put = await fixture.scim('PUT', `/Groups/${id}`, {
      schemas: [GROUP],
      displayName: 'Editors',
      members: [{ value: bob, display: 'Bob' }],
    });
    expect(put.status).to.equal(200);
    expect([await roleOf(ann), await roleOf(bob)]).to.deep.equal([ROLES.member, ROLES.editor]);
    await fixture.scim('PUT', `/Groups/${id}`, { schemas: [GROUP], displayName: 'Editors' });
    expect(await roleOf(bob)).to.equal(ROLES.member);
    await fixture.scim('DELETE', `/Groups/${id}`);
  });

  it('takes each form in which members are removed', async () => {
    const users = [await createUser(), await createUser(), await createUser(), await createUser()] as const;
    const id = await createGroup('Removals', users);
    const left = async () =>
      ((await fixture.scim('GET', `/Groups/${id}`)).body.members ?? []).map((one: { value: string }) => one.value);
    await patch(id, { op: 'Remove', path: 'members', value: [{ value: users[0] }] });
    expect(await left()).to.have.members(users.slice(1));
    await patch(id, { op: 'remove', path: `members[value eq "${users[1]}" or value eq "${users[0]}"]` });
    expect(await left()).to.have.members(users.slice(2));
    await patch(id, { op: 'replace', path: 'members', value: [{ value: users[3] }] });
    expect(await left()).to.deep.equal([users[3]]);
    await patch(id, { op: 'remove', path: 'members' });
    expect(await left()).to.deep.equal([]);
  });

  it('refuses members that are no users of the provider, and stores nothing of the request', async () => {
    const other = await fixture.scim(
      'POST',
      '/Users',
      { schemas: [USER], userName: 'x@other.example' },
      { token: OTHER_TOKEN },
    );
    const ann = await createUser();
    const id = await createGroup('Strict');
    for (const value of [other.body.id, '00000000-0000-4000-8000-00000000ffff', 'no key', 5]) {
      const { status, body } = await patch(id, { op: 'add', path: 'members', value: [{ value: ann }, { value }] });
      expect([status, body.scimType]).to.deep.equal([400, 'invalidValue']);
    }
    expect((await fixture.scim('GET', `/Groups/${id}`)).body).not.to.have.property('members');
  });

  it('gives no admin role, and changes nothing of a request that asks for one', async () => {
    const ann = await createUser();
    const id = await createGroup('Admins');
    const { status, body } = await patch(id, { op: 'add', path: 'members', value: [{ value: ann }] });
    expect([status, body.status]).to.deep.equal([403, '403']);
    expect(body.detail).to.include('SCIM_ALLOW_ADMIN');
    expect(await roleOf(ann)).to.equal(ROLES.member);
    expect((await fixture.scim('GET', `/Groups/${id}`)).body).not.to.have.property('members');
  });

  it('changes a group only in the version of If-Match', async () => {
    const ann = await createUser();
    const id = await createGroup('Versions');
    const etag = (await fixture.scim('GET', `/Groups/${id}`)).headers.get('etag') as string;
    const change = () =>
      fixture.scim(
        'PATCH',
        `/Groups/${id}`,
        { schemas: [PATCH], Operations: [{ op: 'add', path: 'members', value: [{ value: ann }] }] },
        { headers: { 'if-match': etag } },
      );
    expect((await change()).status).to.equal(200);
    expect((await change()).status).to.equal(412);
  });

  it('gives the role of its group to every one of many members', async () => {
    const ids = (
      await fixture.service.database.query<{ id: string }>(
        `insert into platform_users (id, email, provider, role) select gen_random_uuid(), 'many-' || n || '@example.com', 'corp', $1
         from generate_series(1, 2000) n returning id`,
        [ROLES.member],
      )
    ).map(({ id }) => id);
    const id = await createGroup('Editors', ids);
    const count = async (role: string) =>
      (
        await fixture.service.database.query(
          "select count(*)::int as count from platform_users where email like 'many-%' and role = $1",
          [role],
        )
      )[0]?.count;
    expect(await count(ROLES.editor)).to.equal(2000);
    await fixture.scim('DELETE', `/Groups/${id}`);
    expect(await count(ROLES.member)).to.equal(2000);
  });

  it('gives a user of simultaneous changes of groups the role that all of them together ask for', async () => {
    const ann = await createUser();
    const ids = [await createGroup('Editors'), await createGroup('Authors', [], { externalId: 'id-of-authors' })];
    await Promise.all(ids.map((id) => patch(id, { op: 'add', path: 'members', value: [{ value: ann }] })));
    expect(await roleOf(ann)).to.equal(ROLES.editor);
    await Promise.all(ids.map((id) => fixture.scim('DELETE', `/Groups/${id}`)));
    expect(await roleOf(ann)).to.equal(ROLES.member);
  });
});

describe('SCIM with SCIM_GROUPS=false', function () {
  this.timeout(120_000);
  let fixture: ScimFixture;
  before(async () => {
    fixture = await startScimFixture({ corp: { SCIM_GROUPS: 'false' } });
  });
  after(() => fixture?.stop());

  it('has no groups, and does not list them among resource types, schemas and attributes of users', async () => {
    const list = async (path: string) => (await fixture.scim('GET', path)).body.Resources;
    for (const [method, path] of [
      ['GET', '/Groups'],
      ['POST', '/Groups'],
      ['GET', '/Groups/00000000-0000-4000-8000-00000000ffff'],
    ] as const)
      expect((await fixture.scim(method, path, method === 'POST' ? {} : undefined)).status, path).to.equal(404);
    expect((await list('/ResourceTypes')).map((one: { id: string }) => one.id)).to.deep.equal(['User']);
    const [schema, ...more] = await list('/Schemas');
    expect(more).to.deep.equal([]);
    expect(schema.attributes.map((one: { name: string }) => one.name)).not.to.include('groups');
  });
});

describe('SCIM with SCIM_ALLOW_ADMIN=true', function () {
  this.timeout(120_000);
  let fixture: ScimFixture;
  before(async () => {
    fixture = await startScimFixture({ corp: { SCIM_ALLOW_ADMIN: 'true' } });
  });
  after(() => fixture?.stop());

  it('gives admin roles by groups, and changes admins', async () => {
    const id = await fixture.createUser('boss@example.com');
    const body = { schemas: [GROUP], displayName: 'Admins', members: [{ value: id }] };
    expect((await fixture.scim('POST', '/Groups', body)).status).to.equal(201);
    expect((await fixture.row(id))?.role).to.equal(ROLES.admin);
    const Operations = [{ op: 'replace', path: 'title', value: 'Boss' }];
    expect((await fixture.scim('PATCH', `/Users/${id}`, { schemas: [PATCH], Operations })).body.title).to.equal('Boss');
  });
});
