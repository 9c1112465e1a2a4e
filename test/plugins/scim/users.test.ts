import { expect } from 'chai';
import { CORP_TOKEN, ENTERPRISE, PATCH, ROLES, type ScimFixture, startScimFixture, USER } from './scim-fixture.ts';

describe('SCIM /Users', function () {
  this.timeout(120_000);
  let fixture: ScimFixture;
  before(async () => {
    fixture = await startScimFixture();
  });
  after(() => fixture?.stop());

  const patch = (id: string, ...Operations: readonly object[]) =>
    fixture.scim('PATCH', `/Users/${id}`, { schemas: [PATCH], Operations });

  it('creates a user of the provider with the default role, and answers it as it is read', async () => {
    const { scim } = fixture;
    const { status, body, headers } = await scim('POST', '/Users', {
      schemas: [USER, ENTERPRISE],
      userName: 'ann@example.com',
      externalId: 'ext-ann',
      name: { givenName: 'Ann', familyName: 'Lee', formatted: 'is made of the others' },
      emails: [
        { value: 'home@example.com', type: 'home' },
        { value: 'ann.lee@example.com', type: 'work', primary: true },
      ],
      active: true,
      displayName: 'Ann L.',
      nickName: 'is not kept',
      [ENTERPRISE]: { department: 'is not kept' },
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    expect(headers.get('content-type')).to.equal('application/scim+json');
    expect(headers.get('location'))
      .to.equal(body.meta.location)
      .and.to.match(new RegExp(`/scim/v2/Users/${body.id}$`));
    expect(headers.get('etag')).to.equal(body.meta.version);
    expect(body).to.deep.include({
      schemas: [USER],
      userName: 'ann@example.com',
      externalId: 'ext-ann',
      name: { formatted: 'Ann Lee', givenName: 'Ann', familyName: 'Lee' },
      displayName: 'Ann L.',
      active: true,
      emails: [{ value: 'ann.lee@example.com', type: 'work', primary: true }],
    });
    expect(body).not.to.have.any.keys('nickName', ENTERPRISE, 'password');
    expect((await scim('GET', `/Users/${body.id}`)).body).to.deep.equal(body);
    expect(await fixture.row(body.id)).to.include({
      provider: 'corp',
      external_identifier: 'ext-ann',
      role: ROLES.member,
      status: 'active',
      email: 'ann.lee@example.com',
    });
  });

  it('refuses a userName, an address or an externalId that another user has with 409 "uniqueness"', async () => {
    await fixture.createUser('taken@example.com', { externalId: 'taken' });
    for (const one of [
      { userName: 'TAKEN@example.com', emails: [{ value: 'free-1@example.com' }] },
      { userName: 'free-2', emails: [{ value: 'Taken@example.com' }] },
      { userName: 'free-3', externalId: 'taken' },
      { userName: 'free-4', emails: [{ value: fixture.service.admin.email }] },
    ]) {
      const { status, body } = await fixture.scim('POST', '/Users', { schemas: [USER], ...one });
      expect([status, body.status, body.scimType], JSON.stringify(one)).to.deep.equal([409, '409', 'uniqueness']);
    }
  });

  it('keeps a userName that is no e-mail address', async () => {
    const id = await fixture.createUser('bjensen');
    const { body } = await fixture.scim('GET', `/Users?filter=${encodeURIComponent('userName eq "BJENSEN"')}`);
    expect(body.Resources.map((one: { id: string }) => one.id)).to.deep.equal([id]);
    expect(body.Resources[0]).not.to.have.property('emails');
    expect((await fixture.row(id))?.email).to.equal(null);
  });

  it('takes an address that says null of whether it is the primary one', async () => {
    const emails = [{ value: 'null-1@example.com', type: null, primary: null }, { value: 'null-2@example.com' }];
    const id = await fixture.createUser('null-primary', { emails });
    expect((await fixture.row(id))?.email).to.equal('null-1@example.com');
  });

  it('creates a user with the name of one who was given to another provider', async () => {
    const { service, scim } = fixture;
    const moved = await fixture.createUser('moved', { emails: [{ value: 'moved-1@example.com' }] });
    await service.request('PATCH', `/users/${moved}`, { token: service.admin.token, body: { provider: 'default' } });
    const emails = [{ value: 'moved-2@example.com' }];
    const { status, body } = await scim('POST', '/Users', { schemas: [USER], userName: 'MOVED', emails });
    expect([status, body.userName]).to.deep.equal([201, 'MOVED']);
    const renamed = await fixture.createUser('moved-later', { emails: [{ value: 'moved-3@example.com' }] });
    await service.database.query(`update platform_users set provider = 'other' where id = $1`, [body.id]);
    const reply = await patch(renamed, { op: 'replace', path: 'userName', value: 'moved' });
    expect([reply.status, reply.body.userName]).to.deep.equal([200, 'moved']);
  });

  it('replaces a user by PUT: what is missing is cleared, except externalId and active', async () => {
    const id = await fixture.createUser('put@example.com', {
      externalId: 'put',
      name: { givenName: 'P', familyName: 'Ut' },
      title: 'Boss',
      active: false,
    });
    const { status, body } = await fixture.scim('PUT', `/Users/${id}`, {
      schemas: [USER],
      userName: 'put2@example.com',
    });
    expect(status).to.equal(200);
    expect(body).to.deep.include({ userName: 'put2@example.com', externalId: 'put', active: false });
    expect(body.emails[0].value).to.equal('put2@example.com');
    expect(body).not.to.have.any.keys('name', 'title', 'displayName', 'preferredLanguage');
  });

  it('renames a user: the address follows the userName where the provider sends no other', async () => {
    const id = await fixture.createUser('old@example.com');
    const { body } = await patch(id, { op: 'replace', path: 'userName', value: 'new@example.com' });
    expect([body.userName, body.emails[0].value]).to.deep.equal(['new@example.com', 'new@example.com']);
    const other = await fixture.createUser('old2@example.com', { emails: [{ value: 'mail@example.com' }] });
    const second = await patch(other, { op: 'replace', path: 'userName', value: 'new2@example.com' });
    expect(second.body.emails[0].value).to.equal('mail@example.com');
    expect((await patch(id, { op: 'replace', path: 'userName', value: 'NEW2@example.com' })).status).to.equal(409);
  });

  for (const [title, operations, expected] of [
    ['a replacement by path', [{ op: 'replace', path: 'name.familyName', value: 'X' }], { 'name.familyName': 'X' }],
    [
      '"Replace" in capitals and a boolean as text',
      [{ op: 'Replace', path: 'active', value: 'False' }],
      { active: false },
    ],
    [
      'a value without a path',
      [{ op: 'replace', value: { active: false, title: 'T' } }],
      { active: false, title: 'T' },
    ],
    [
      'paths as members of a value without a path',
      [
        {
          op: 'Add',
          value: { 'name.givenName': 'G', [`${USER}:title`]: 'T', 'emails[type eq "work"].value': 'e1@example.com' },
        },
      ],
      { 'name.givenName': 'G', title: 'T', 'emails.0.value': 'e1@example.com' },
    ],
    [
      'a work address by filter',
      [{ op: 'Replace', path: 'emails[type eq "work"].value', value: 'e2@example.com' }],
      { 'emails.0.value': 'e2@example.com' },
    ],
    [
      'a primary address by filter',
      [{ op: 'replace', path: 'emails[primary eq true].value', value: 'e3@example.com' }],
      { 'emails.0.value': 'e3@example.com' },
    ],
    [
      'a list of addresses',
      [{ op: 'replace', path: 'emails', value: [{ value: 'e4@example.com', type: 'work' }] }],
      { 'emails.0.value': 'e4@example.com' },
    ],
    [
      'the URN of a schema as a member',
      [{ op: 'add', value: { [USER]: { title: 'U' }, [ENTERPRISE]: { department: 'D' } } }],
      { title: 'U' },
    ],
    [
      'an attribute by its URN',
      [{ op: 'replace', path: `${USER}:name.givenName`, value: 'Urn' }],
      { 'name.givenName': 'Urn' },
    ],
    ['a removed attribute', [{ op: 'remove', path: 'title' }], { title: undefined }],
    [
      'a removed language and display name',
      [
        { op: 'remove', path: 'preferredLanguage' },
        { op: 'remove', path: 'displayName' },
      ],
      { preferredLanguage: undefined, displayName: undefined },
    ],
    ['a removed address', [{ op: 'remove', path: 'emails[type eq "work"]' }], { emails: undefined }],
    [
      'attributes that the service does not keep',
      [
        { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '1' },
        { op: 'add', path: `${ENTERPRISE}:manager`, value: '2' },
        { op: 'Add', path: 'manager', value: '2' },
        { op: 'Add', path: ENTERPRISE, value: { department: '3' } },
        { op: 'replace', path: 'displayName', value: 'D' },
      ],
      { displayName: 'D' },
    ],
    [
      'an address of another type beside the one there is',
      [{ op: 'add', path: 'emails', value: [{ value: 'home@example.com', type: 'home' }] }],
      { 'emails.0.value': 'same' },
    ],
    [
      'names of attributes in any case',
      [
        { op: 'replace', path: 'NAME.GIVENNAME', value: 'C' },
        { op: 'replace', value: { DisplayName: 'DC' } },
      ],
      { 'name.givenName': 'C', displayName: 'DC' },
    ],
  ] as const) {
    it(`takes a PATCH with ${title}`, async () => {
      const email = `${crypto.randomUUID()}@example.com`;
      const id = await fixture.createUser(email, { name: { givenName: 'A', familyName: 'B' }, title: 'Before' });
      const { status, body } = await patch(id, ...operations);
      expect(status, JSON.stringify(body)).to.equal(200);
      for (const [path, value] of Object.entries(expected))
        expect(
          path.split('.').reduce((one, part) => one?.[part], body),
          path,
        ).to.equal(value === 'same' ? email : value);
      expect((await fixture.scim('GET', `/Users/${id}`)).body).to.deep.equal(body);
    });
  }

  for (const [title, operations, scimType] of [
    ['an unknown attribute', [{ op: 'replace', path: 'shoeSize', value: 1 }], 'invalidPath'],
    ['a malformed path', [{ op: 'replace', path: 'emails[type eq', value: 1 }], 'invalidPath'],
    ['a path of another schema', [{ op: 'replace', path: 'urn:example:User:title', value: 1 }], 'invalidPath'],
    ['the id', [{ op: 'replace', path: 'id', value: 'x' }], 'mutability'],
    ['groups', [{ op: 'add', path: 'groups', value: [] }], 'mutability'],
    ['a removal without a path', [{ op: 'remove' }], 'noTarget'],
    ['a removed userName', [{ op: 'remove', path: 'userName' }], 'invalidValue'],
    ['a number as a name', [{ op: 'replace', path: 'name.givenName', value: 5 }], 'invalidValue'],
    ['active that is no boolean', [{ op: 'replace', path: 'active', value: 'maybe' }], 'invalidValue'],
    ['a name that is too long', [{ op: 'replace', path: 'name.givenName', value: 'x'.repeat(51) }], 'invalidValue'],
    [
      'an address that is none',
      [{ op: 'replace', path: 'emails[type eq "work"].value', value: 'none' }],
      'invalidValue',
    ],
    ['an unknown operation', [{ op: 'move', path: 'title', value: 'x' }], 'invalidSyntax'],
    ['no operation', [], 'invalidSyntax'],
    ['an operation without a value', [{ op: 'add', path: 'title' }], 'invalidSyntax'],
    [
      'a good operation before a bad one',
      [
        { op: 'replace', path: 'title', value: 'changed' },
        { op: 'replace', path: 'shoeSize', value: 1 },
      ],
      'invalidPath',
    ],
  ] as const) {
    it(`refuses a PATCH with ${title} by 400 "${scimType}", and changes nothing`, async () => {
      const id = await fixture.createUser(`${crypto.randomUUID()}@example.com`, { title: 'Before' });
      const { status, body } = await patch(id, ...operations);
      expect([status, body.scimType], JSON.stringify(body)).to.deep.equal([400, scimType]);
      expect((await fixture.scim('GET', `/Users/${id}`)).body.title).to.equal('Before');
    });
  }

  it('writes nothing where a request changes nothing', async () => {
    const id = await fixture.createUser('same@example.com', { title: 'T' });
    const before = (await fixture.scim('GET', `/Users/${id}`)).body;
    const { body } = await patch(
      id,
      { op: 'replace', path: 'title', value: 'T' },
      { op: 'replace', path: 'active', value: true },
    );
    expect(body).to.deep.equal(before);
  });

  it('changes a user only in the version of If-Match, and answers 304 to one that the client has', async () => {
    const id = await fixture.createUser('version@example.com');
    const { headers } = await fixture.scim('GET', `/Users/${id}`);
    const etag = headers.get('etag') as string;
    const put = (title: string, version: string) =>
      fixture.scim(
        'PUT',
        `/Users/${id}`,
        { schemas: [USER], userName: 'version@example.com', title },
        { headers: { 'if-match': version } },
      );
    const unchanged = await fixture.scim('GET', `/Users/${id}`, undefined, {
      headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' },
    });
    expect(unchanged.status).to.equal(304);
    expect((await put('one', etag)).status).to.equal(200);
    const { status, body } = await put('two', etag);
    expect([status, body.status]).to.deep.equal([412, '412']);
    expect(
      (await fixture.scim('DELETE', `/Users/${id}`, undefined, { headers: { 'if-match': etag } })).status,
    ).to.equal(412);
    expect((await put('three', '*')).body.title).to.equal('three');
  });

  it('shows a change that an admin makes in version and lastModified', async () => {
    const id = await fixture.createUser('modified@example.com');
    const before = (await fixture.scim('GET', `/Users/${id}`)).body.meta;
    await fixture.service.request('PATCH', `/users/${id}`, {
      token: fixture.service.admin.token,
      body: { title: 'X' },
    });
    const after = (await fixture.scim('GET', `/Users/${id}`)).body.meta;
    expect(after.version).not.to.equal(before.version);
    expect(after.created).to.equal(before.created);
    expect(Date.parse(after.lastModified)).to.be.at.least(Date.parse(before.lastModified));
    const filter = encodeURIComponent(`id eq "${id}" and meta.lastModified gt "${before.created}"`);
    expect((await fixture.scim('GET', `/Users?filter=${filter}`)).body.totalResults).to.equal(1);
    for (const [operator, count] of [
      ['eq', 1],
      ['ge', 1],
      ['gt', 0],
    ] as const) {
      const shown = encodeURIComponent(`id eq "${id}" and meta.lastModified ${operator} "${after.lastModified}"`);
      expect((await fixture.scim('GET', `/Users?filter=${shown}`)).body.totalResults, operator).to.equal(count);
    }
  });

  it('deletes a user once', async () => {
    const id = await fixture.createUser('gone@example.com');
    expect((await fixture.scim('DELETE', `/Users/${id}`)).status).to.equal(204);
    expect(await fixture.row(id)).to.equal(undefined);
    for (const [method, body] of [
      ['DELETE', undefined],
      ['GET', undefined],
      ['PUT', { schemas: [USER], userName: 'gone@example.com' }],
      ['PATCH', { schemas: [PATCH], Operations: [{ op: 'replace', path: 'title', value: 'x' }] }],
    ] as const) {
      const reply = await fixture.scim(method, `/Users/${id}`, body);
      expect([reply.status, reply.body.status], method).to.deep.equal([404, '404']);
    }
  });

  it('records who changed a user: the activity names the provider, and revisions have the change', async () => {
    const id = await fixture.createUser('recorded@example.com');
    await patch(id, { op: 'replace', path: 'title', value: 'New' });
    const rows = await fixture.service.database.query(
      `select a.action, a.origin, a.owner, a."user", a.ip, r.delta->>'title' as title from platform_activity a
       left join platform_revisions r on r.activity = a.id
       where a.collection = 'platform_users' and a.item = $1 order by a.id`,
      [id],
    );
    expect(rows.map((one) => [one.action, one.origin, one.user, one.title])).to.deep.equal([
      ['create', 'scim:corp', null, null],
      ['update', 'scim:corp', null, 'New'],
    ]);
    expect(rows[0]?.owner).to.match(/scim/);
    expect(rows[0]?.ip).to.be.a('string');
  });

  it('makes users inactive and active again, but not archived ones', async () => {
    const id = await fixture.createUser('active@example.com');
    const setActive = (value: boolean) => patch(id, { op: 'replace', path: 'active', value });
    expect((await setActive(false)).body.active).to.equal(false);
    expect((await fixture.row(id))?.status).to.equal('suspended');
    expect((await setActive(true)).body.active).to.equal(true);
    await fixture.service.database.query("update platform_users set status = 'archived' where id = $1", [id]);
    const { status, body } = await setActive(true);
    expect([status, body.detail]).to.deep.equal([
      403,
      'The user is archived in the service, where an administrator can make it active.',
    ]);
  });

  it('answers the selected attributes, always with id and schemas', async () => {
    const id = await fixture.createUser('selected@example.com', { name: { givenName: 'S', familyName: 'T' } });
    const read = async (query: string) => (await fixture.scim('GET', `/Users/${id}?${query}`)).body;
    expect(await read('attributes=userName,name.givenName')).to.deep.equal({
      schemas: [USER],
      id,
      userName: 'selected@example.com',
      name: { givenName: 'S' },
    });
    expect(await read(`attributes=${USER}:USERNAME`)).to.deep.equal({
      schemas: [USER],
      id,
      userName: 'selected@example.com',
    });
    expect(await read('excludedAttributes=name.formatted,emails,meta,displayName,preferredLanguage,id')).to.deep.equal({
      schemas: [USER],
      id,
      userName: 'selected@example.com',
      name: { givenName: 'S', familyName: 'T' },
      active: true,
    });
    expect((await fixture.scim('GET', `/Users/${id}?attributes=id&excludedAttributes=meta`)).status).to.equal(400);
  });

  it('takes bodies of the type application/json as well, and refuses others in the form of SCIM', async () => {
    const send = (type: string, body: string) =>
      fixture.service.request('POST', '/scim/v2/Users', { token: CORP_TOKEN, headers: { 'content-type': type }, body });
    const json = await send('application/json', JSON.stringify({ schemas: [USER], userName: 'json@example.com' }));
    expect(json.status).to.equal(201);
    const xml = await send('text/xml', '<user/>');
    expect([xml.status, xml.body.status]).to.deep.equal([415, '415']);
    const broken = await send('application/scim+json', '{"schemas":');
    expect([broken.status, broken.body.scimType]).to.deep.equal([400, 'invalidSyntax']);
  });
});
