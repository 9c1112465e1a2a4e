/** The requests that Entra ID and Okta send, in the order in which they send them. */
import { expect } from 'chai';
import { ENTERPRISE, GROUP, PATCH, ROLES, type ScimFixture, startScimFixture, USER } from './scim-fixture.ts';

const ENTRA_GROUP = 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group';

describe('SCIM with the requests of Entra ID', function () {
  this.timeout(120_000);
  let fixture: ScimFixture;
  before(async () => {
    fixture = await startScimFixture();
  });
  after(() => fixture?.stop());

  it('tests the connection, creates, finds, changes, disables and deletes a user', async () => {
    const { scim } = fixture;
    const find = (filter: string) => scim('GET', `/Users?filter=${encodeURIComponent(filter)}`);
    const probe = await find(`userName eq "${crypto.randomUUID()}"`);
    expect([probe.status, probe.body.totalResults, probe.body.Resources]).to.deep.equal([200, 0, []]);

    const created = await scim('POST', '/Users', {
      schemas: [USER, ENTERPRISE],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName: 'ada@contoso.example',
      active: true,
      addresses: [{ primary: false, type: 'work', country: null, locality: 'London' }],
      displayName: 'Ada Lovelace',
      emails: [{ primary: true, type: 'work', value: 'ada.lovelace@contoso.example' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'Ada Lovelace', familyName: 'Lovelace', givenName: 'Ada' },
      phoneNumbers: [{ primary: true, type: 'mobile', value: '1' }],
      roles: [],
      title: 'Analyst',
      [ENTERPRISE]: { department: 'Engines', employeeNumber: '1' },
    });
    expect(created.status, JSON.stringify(created.body)).to.equal(201);
    const { id } = created.body;
    for (const filter of [
      'userName eq "ada@contoso.example"',
      'externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"',
      'emails[type eq "work"].value eq "ada.lovelace@contoso.example"',
    ])
      expect(
        (await find(filter)).body.Resources.map((one: { id: string }) => one.id),
        filter,
      ).to.deep.equal([id]);

    const changed = await scim('PATCH', `/Users/${id}`, {
      schemas: [PATCH],
      Operations: [
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'ada@analytical.example' },
        { op: 'Replace', path: 'name.familyName', value: 'King' },
        { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '2' },
        { op: 'Add', path: `${ENTERPRISE}:manager`, value: id },
        { op: 'Replace', path: `${ENTERPRISE}:department`, value: 'Mathematics' },
        { op: 'Remove', path: 'addresses[type eq "work"].locality' },
        {
          op: 'Add',
          value: { 'name.givenName': 'Augusta', [`${ENTERPRISE}:manager`]: { value: id }, displayName: 'A. King' },
        },
      ],
    });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
    expect(changed.body).to.deep.include({
      displayName: 'A. King',
      name: { formatted: 'Augusta King', givenName: 'Augusta', familyName: 'King' },
      emails: [{ value: 'ada@analytical.example', type: 'work', primary: true }],
    });

    const setActive = async (value: unknown) => {
      const Operations = [{ op: 'Replace', path: 'active', value }];
      return (await scim('PATCH', `/Users/${id}`, { schemas: [PATCH], Operations })).body.active;
    };
    expect(await setActive('False')).to.equal(false);
    expect((await find('userName eq "ada@contoso.example"')).body.Resources[0].active).to.equal(false);
    expect(await setActive('True')).to.equal(true);
    expect(await setActive(false)).to.equal(false);
    expect((await scim('DELETE', `/Users/${id}`)).status).to.equal(204);
    expect((await scim('GET', `/Users/${id}`)).status).to.equal(404);
  });

  it('creates, finds, renames and fills a group, whose members get its role', async () => {
    const { scim } = fixture;
    const member = await fixture.createUser('grace@contoso.example');
    const created = await scim('POST', '/Groups', {
      schemas: [GROUP, ENTRA_GROUP],
      externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
      displayName: 'Staff',
      meta: { resourceType: 'Group' },
    });
    expect(created.status).to.equal(201);
    const { id } = created.body;
    const found = await scim(
      'GET',
      `/Groups?excludedAttributes=members&filter=${encodeURIComponent('displayName eq "Staff"')}`,
    );
    expect(found.body.Resources.map((one: { id: string }) => one.id)).to.deep.equal([id]);
    expect((await scim('GET', `/Groups/${id}?excludedAttributes=members`)).body.displayName).to.equal('Staff');

    const patch = (...Operations: readonly object[]) =>
      scim('PATCH', `/Groups/${id}`, { schemas: [PATCH], Operations });
    await patch({ op: 'Replace', path: 'displayName', value: 'Editors' });
    await patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: member }] });
    expect((await fixture.row(member))?.role).to.equal(ROLES.editor);
    const isMember = encodeURIComponent(`id eq "${id}" and members eq "${member}"`);
    expect((await scim('GET', `/Groups?filter=${isMember}`)).body.totalResults).to.equal(1);
    await patch({ op: 'Remove', path: 'members', value: [{ $ref: null, value: member }] });
    expect((await fixture.row(member))?.role).to.equal(ROLES.member);
    expect((await scim('GET', `/Groups?filter=${isMember}`)).body.totalResults).to.equal(0);
    expect((await scim('DELETE', `/Groups/${id}`)).status).to.equal(204);
  });
});

describe('SCIM with the requests of Okta', function () {
  this.timeout(120_000);
  let fixture: ScimFixture;
  before(async () => {
    fixture = await startScimFixture();
  });
  after(() => fixture?.stop());

  it('tests the connection, creates, replaces, deactivates and reactivates a user', async () => {
    const { scim } = fixture;
    expect((await scim('GET', '/Users?startIndex=1&count=2')).body.totalResults).to.equal(0);
    const filter = encodeURIComponent('userName eq "test.user@okta.example"');
    expect((await scim('GET', `/Users?filter=${filter}&startIndex=1&count=100`)).body.totalResults).to.equal(0);
    const profile = {
      schemas: [USER],
      userName: 'test.user@okta.example',
      name: { givenName: 'Test', familyName: 'User' },
      emails: [{ primary: true, value: 'test.user@okta.example', type: 'work' }],
      displayName: 'Test User',
      locale: 'en-US',
      externalId: '00ujl29u0le5T6Aj10h7',
      groups: [],
      password: '1mz050nq',
      active: true,
    };
    const created = await scim('POST', '/Users', profile);
    expect(created.status, JSON.stringify(created.body)).to.equal(201);
    const { id } = created.body;
    expect((await fixture.row(id))?.password).to.equal(null);
    const put = await scim('PUT', `/Users/${id}`, {
      ...profile,
      id,
      name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' },
      meta: { resourceType: 'User' },
    });
    expect([put.status, put.body.name.formatted, put.body.externalId]).to.deep.equal([
      200,
      'Another User',
      profile.externalId,
    ]);
    for (const active of [false, true]) {
      const Operations = [{ op: 'replace', value: { active } }];
      expect((await scim('PATCH', `/Users/${id}`, { schemas: [PATCH], Operations })).body.active).to.equal(active);
    }
  });

  it('imports, creates, renames, fills and deletes a group', async () => {
    const { scim } = fixture;
    const [ann, bob] = [await fixture.createUser('ann@okta.example'), await fixture.createUser('bob@okta.example')];
    expect((await scim('GET', '/Groups?startIndex=1&count=100')).body.totalResults).to.equal(0);
    const { body: group } = await scim('POST', '/Groups', {
      schemas: [GROUP],
      displayName: 'Editors',
      members: [{ value: ann, display: 'ann@okta.example' }],
    });
    expect((await fixture.row(ann))?.role).to.equal(ROLES.editor);
    const patch = (...Operations: readonly object[]) =>
      scim('PATCH', `/Groups/${group.id}`, { schemas: [PATCH], Operations });
    await patch(
      { op: 'remove', path: `members[value eq "${ann}"]` },
      { op: 'add', path: 'members', value: [{ value: bob, display: 'bob@okta.example' }] },
    );
    expect([(await fixture.row(ann))?.role, (await fixture.row(bob))?.role]).to.deep.equal([
      ROLES.member,
      ROLES.editor,
    ]);
    const renamed = await patch({ op: 'replace', value: { id: group.id, displayName: 'Everybody' } });
    expect(renamed.body.displayName).to.equal('Everybody');
    expect((await fixture.row(bob))?.role).to.equal(ROLES.member);
    expect((await scim('DELETE', `/Groups/${group.id}`)).status).to.equal(204);
  });
});
