import { expect } from 'chai';
import { ROLES, type ScimFixture, startScimFixture, USER } from './scim-fixture.ts';

describe('SCIM /Users', function () {
  this.timeout(120_000);
  let fixture: ScimFixture;
  before(async () => {
    fixture = await startScimFixture({ env: { LOG_LEVEL: 'warn' } });
  });
  after(() => fixture?.stop());

  it('creates a user of the provider with the default role', async () => {
    const { scim } = fixture;
    const { status, body, headers } = await scim('POST', '/Users', {
      schemas: [USER],
      userName: 'ann@example.com',
      externalId: 'ext-ann',
      name: { givenName: 'Ann', familyName: 'Lee' },
      emails: [{ value: 'ann.lee@example.com', type: 'work', primary: true }],
      active: true,
    });
    expect(status, JSON.stringify(body) + JSON.stringify(fixture.service.log)).to.equal(201);
    console.log(body, headers);
    const row = await fixture.row(body.id);
    expect(row).to.include({ provider: 'corp', external_identifier: 'ext-ann', role: ROLES.member, status: 'active' });
    const list = await scim('GET', `/Users?filter=${encodeURIComponent('emails[type eq "work"].value eq "ANN.lee@example.com" and active eq true')}`);
    console.log(list.status, JSON.stringify(list.body));
  });
});
