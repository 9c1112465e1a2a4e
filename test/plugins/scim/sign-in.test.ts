import { expect } from 'chai';
import {
  EDITOR,
  MEMBER,
  type ProviderFixture,
  startProviderFixture,
  userOf,
} from '../auth-providers/provider-fixture.ts';
import { CORP_TOKEN, createScimSend, GROUP, PATCH, type ScimSend, USER } from './scim-fixture.ts';

describe('a sign-in provider that manages its users by SCIM', function () {
  this.timeout(120_000);
  let fixture: ProviderFixture;
  let scim: ScimSend;
  before(async () => {
    fixture = await startProviderFixture({
      env: { AUTH_OIDC_SCIM_TOKEN: CORP_TOKEN },
    });
    scim = createScimSend(fixture.service.request);
  });
  after(() => fixture?.stop());

  const create = async (userName: string, externalId: string) =>
    (await scim('POST', '/Users', { schemas: [USER], userName, externalId })).body.id as string;

  it('signs in the user whom SCIM has made, by the same identifier', async () => {
    const id = await create('ann@example.com', 'ann-1');
    fixture.server.user = { sub: 'ann-1', email: 'ann@example.com' };
    expect((await fixture.signIn('oidc')).status).to.equal(200);
    expect((await userOf(fixture.service, 'ann@example.com'))?.id).to.equal(id);
  });

  it('shows and manages a user who has signed in before SCIM knew of it', async () => {
    fixture.server.user = { sub: 'early-1', email: 'early@example.com' };
    await fixture.signIn('oidc');
    const { body } = await scim('GET', `/Users?filter=${encodeURIComponent('userName eq "early@example.com"')}`);
    expect(body.Resources[0]).to.include({ externalId: 'early-1', active: true });
    const put = await scim('PUT', `/Users/${body.Resources[0].id}`, {
      schemas: [USER],
      userName: 'early',
      active: false,
    });
    expect(put.body).to.include({ userName: 'early', active: false });
    expect((await fixture.signIn('oidc')).code).to.equal('USER_SUSPENDED');
  });

  it('links a user without an identifier at the first sign-in, by the verified address', async () => {
    const { body } = await scim('POST', '/Users', { schemas: [USER], userName: 'later@example.com' });
    fixture.server.user = { sub: 'later-1', email: 'later@example.com', email_verified: true };
    expect((await fixture.signIn('oidc')).status).to.equal(200);
    expect((await scim('GET', `/Users/${body.id}`)).body.externalId).to.equal('later-1');
  });

  it('decides roles by the groups of SCIM, and not by those of a sign-in', async () => {
    const id = await create('bob@example.com', 'bob-1');
    const roleOf = async () => (await userOf(fixture.service, 'bob@example.com'))?.role;
    fixture.server.user = { sub: 'bob-1', email: 'bob@example.com', groups: ['editors'] };
    await fixture.signIn('oidc');
    expect(await roleOf()).to.equal(MEMBER);
    const group = { schemas: [GROUP], displayName: 'editors', members: [{ value: id }] };
    expect((await scim('POST', '/Groups', group)).status).to.equal(201);
    expect(await roleOf()).to.equal(EDITOR);
    fixture.server.user = { sub: 'bob-1', email: 'bob@example.com' };
    await fixture.signIn('oidc');
    expect(await roleOf()).to.equal(EDITOR);
  });

  it('ends sessions, access tokens and static tokens of a user who is made inactive, at once', async () => {
    const id = await create('cat@example.com', 'cat-1');
    fixture.server.user = { sub: 'cat-1', email: 'cat@example.com' };
    const { access_token: token, refresh_token } = (await fixture.signIn('oidc')).body.data;
    const { request, admin } = fixture.service;
    await request('PATCH', `/users/${id}`, { token: admin.token, body: { token: 'static-token-of-cat' } });
    const me = async (one: string) => (await request('GET', '/users/me', { token: one })).status;
    expect([await me(token), await me('static-token-of-cat')]).to.deep.equal([200, 200]);
    const Operations = [{ op: 'replace', path: 'active', value: false }];
    expect((await scim('PATCH', `/Users/${id}`, { schemas: [PATCH], Operations })).status).to.equal(200);
    expect([await me(token), await me('static-token-of-cat')]).to.deep.equal([401, 401]);
    expect((await request('POST', '/auth/refresh', { body: { refresh_token } })).status).to.equal(401);
    expect((await fixture.signIn('oidc')).code).to.equal('USER_SUSPENDED');
  });
});

describe('a sign-in provider with SCIM and SCIM_GROUPS=false', function () {
  this.timeout(120_000);
  let fixture: ProviderFixture;
  before(async () => {
    fixture = await startProviderFixture({
      env: { AUTH_OIDC_SCIM_TOKEN: CORP_TOKEN, AUTH_OIDC_SCIM_GROUPS: 'false' },
    });
  });
  after(() => fixture?.stop());

  it('decides roles by the groups of a sign-in, as without SCIM', async () => {
    const body = { schemas: [USER], userName: 'dan@example.com', externalId: 'dan-1' };
    await createScimSend(fixture.service.request)('POST', '/Users', body);
    fixture.server.user = { sub: 'dan-1', email: 'dan@example.com', groups: ['editors'] };
    await fixture.signIn('oidc');
    expect((await userOf(fixture.service, 'dan@example.com'))?.role).to.equal(EDITOR);
  });
});
