import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startService } from '../../support/service.ts';
import { captureError } from '../../support/test-plugins.ts';
import {
  CORP_TOKEN,
  OTHER_TOKEN,
  PATCH,
  PREVIOUS_TOKEN,
  ROLES,
  type ScimFixture,
  scimSettings,
  startScimFixture,
  USER,
} from './scim-fixture.ts';

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

describe('the token of SCIM', function () {
  this.timeout(120_000);
  let fixture: ScimFixture;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-scim-'));
    await writeFile(join(folder, 'token'), `${CORP_TOKEN}\n`);
    fixture = await startScimFixture({
      env: {
        CACHE_ENABLED: 'true',
        LOG_LEVEL: 'warn',
        AUTH_CORP_SCIM_TOKEN: '',
        AUTH_CORP_SCIM_TOKEN_FILE: join(folder, 'token'),
      },
    });
  });
  after(async () => {
    await fixture?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const statusWith = async (token: string) => (await fixture.scim('GET', '/Users', undefined, { token })).status;

  it('is required by every route, and a wrong one is 401 in the form of SCIM', async () => {
    for (const path of ['/Users', '/Groups', '/ServiceProviderConfig', '/ResourceTypes', '/Schemas']) {
      for (const token of ['', 'wrong', `${CORP_TOKEN}x`, fixture.service.admin.token]) {
        const { status, body, headers } = await fixture.scim('GET', path, undefined, { token });
        expect([status, body.schemas, body.status], `${path} ${token}`).to.deep.equal([401, [ERROR], '401']);
        expect(headers.get('www-authenticate')).to.equal('Bearer');
      }
    }
  });

  it('is not taken from the address, and opens no other route of the service', async () => {
    expect((await fixture.service.request('GET', `/scim/v2/Users?access_token=${CORP_TOKEN}`)).status).to.equal(401);
    const { status, body } = await fixture.service.request('GET', '/users', { token: CORP_TOKEN });
    expect([status, body.errors[0].extensions.code]).to.deep.equal([401, 'INVALID_CREDENTIALS']);
  });

  it('is one of two while it is changed, and its file is read anew', async () => {
    expect([await statusWith(CORP_TOKEN), await statusWith(PREVIOUS_TOKEN)]).to.deep.equal([200, 200]);
    const next = 'next-0123456789abcdef0123456789abcdef';
    await writeFile(join(folder, 'token'), next);
    expect([await statusWith(next), await statusWith(CORP_TOKEN)]).to.deep.equal([200, 401]);
    await writeFile(join(folder, 'token'), 'short');
    expect(await statusWith('short')).to.equal(401);
    await writeFile(join(folder, 'token'), CORP_TOKEN);
  });

  it('in a file that cannot be read is one line in the log, however many requests bring a wrong one: 503', async () => {
    await rm(join(folder, 'token'));
    const statuses = await Promise.all(Array.from({ length: 20 }, (_none, at) => statusWith(`${CORP_TOKEN}${at}`)));
    await writeFile(join(folder, 'token'), CORP_TOKEN);
    expect(statuses).to.deep.equal(Array(20).fill(503));
    const lines = fixture.service.log.filter((line) => JSON.stringify(line).includes('AUTH_CORP_SCIM_TOKEN_FILE'));
    expect(lines).to.have.length(1);
    expect(lines[0]).not.to.have.property('err');
  });

  it('of one provider shows and changes no users of another, of the service, or without SCIM', async () => {
    const { scim, service } = fixture;
    const other = (
      await scim('POST', '/Users', { schemas: [USER], userName: 'u@other.example' }, { token: OTHER_TOKEN })
    ).body.id;
    const local = (await service.request('GET', '/users/me', { token: service.admin.token })).body.data.id;
    expect(
      (await scim('GET', '/Users?count=200')).body.Resources.map((one: { id: string }) => one.id),
    ).not.to.include.members([other]);
    for (const id of [other, local]) {
      const Operations = [{ op: 'replace', path: 'active', value: false }];
      expect((await scim('GET', `/Users/${id}`)).status).to.equal(404);
      expect((await scim('PATCH', `/Users/${id}`, { schemas: [PATCH], Operations })).status).to.equal(404);
      expect((await scim('DELETE', `/Users/${id}`)).status).to.equal(404);
      expect((await fixture.row(id))?.status).to.equal('active');
    }
    const filter = encodeURIComponent(`id eq "${other}" or not (userName eq "unknown")`);
    const found = (await scim('GET', `/Users?filter=${filter}`)).body.Resources;
    expect(
      found.every((one: { meta: { location: string }; id: string }) => one.id !== other && one.id !== local),
    ).to.equal(true);
  });

  it('changes no admin, whatever made the user one', async () => {
    const id = await fixture.createUser('promoted@example.com');
    await fixture.service.database.query('update platform_users set role = $2 where id = $1', [id, ROLES.admin]);
    for (const [method, body] of [
      ['PATCH', { schemas: [PATCH], Operations: [{ op: 'replace', path: 'active', value: false }] }],
      ['PUT', { schemas: [USER], userName: 'other-name@example.com' }],
      ['DELETE', undefined],
    ] as const) {
      const reply = await fixture.scim(method, `/Users/${id}`, body);
      expect([reply.status, reply.body.detail], method).to.deep.equal([
        403,
        'The provider corp may not manage admins (SCIM_ALLOW_ADMIN).',
      ]);
    }
    expect(await fixture.row(id)).to.include({ status: 'active', email: 'promoted@example.com' });
  });

  it('takes over no local user without SCIM_LINK_LOCAL_USERS', async () => {
    const { service, scim } = fixture;
    const email = 'local@example.com';
    await service.request('POST', '/users', { token: service.admin.token, body: { email } });
    expect((await scim('POST', '/Users', { schemas: [USER], userName: email })).status).to.equal(409);
  });
});

describe('SCIM_LINK_LOCAL_USERS=true', function () {
  this.timeout(120_000);
  let fixture: ScimFixture;
  before(async () => {
    fixture = await startScimFixture({ corp: { SCIM_LINK_LOCAL_USERS: 'true' } });
  });
  after(() => fixture?.stop());

  it('makes a local user with the same address one of the provider, who keeps key and role', async () => {
    const { service, scim } = fixture;
    const created = await service.request('POST', '/users', {
      token: service.admin.token,
      body: { email: 'Local@example.com', role: ROLES.author, title: 'Old', first_name: 'Lo' },
    });
    const id = created.body.data.id;
    const { status, body } = await scim('POST', '/Users', {
      schemas: [USER],
      userName: 'local@example.com',
      externalId: 'ext-local',
      title: 'New',
    });
    expect([status, body.id]).to.deep.equal([201, id]);
    expect(await fixture.row(id)).to.include({
      provider: 'corp',
      external_identifier: 'ext-local',
      role: ROLES.author,
      title: 'New',
      first_name: 'Lo',
    });
  });

  for (const status of ['invited', 'unverified'])
    for (const active of [undefined, true, false])
      it(`makes a user who is ${status} ${active === false ? 'suspended' : 'active'} where "active" is ${active}`, async () => {
        const { service, scim } = fixture;
        const email = `${status}-${active}@example.com`;
        const body = { email, status, role: ROLES.author };
        const created = await service.request('POST', '/users', { token: service.admin.token, body });
        const reply = await scim('POST', '/Users', { schemas: [USER], userName: email, active });
        expect([reply.status, reply.body.active]).to.deep.equal([201, active !== false]);
        const expected = { provider: 'corp', status: active === false ? 'suspended' : 'active' };
        expect(await fixture.row(created.body.data.id)).to.include(expected);
      });

  it('ends password, sessions and static token of the local user, who may be another person', async () => {
    const { service, scim } = fixture;
    const { request, admin } = service;
    const email = 'held@example.com';
    const [password, staticToken] = ['a-long-password-of-before', 'static-token-of-before'];
    const created = await request('POST', '/users', {
      token: admin.token,
      body: { email, password, token: staticToken },
    });
    const signedIn = (await request('POST', '/auth/login', { body: { email, password } })).body.data;
    const me = async () => (await request('GET', '/users/me', { token: staticToken })).status;
    expect(await me()).to.equal(200);
    expect((await scim('POST', '/Users', { schemas: [USER], userName: email })).status).to.equal(201);
    expect(await me()).to.equal(401);
    const { refresh_token } = signedIn;
    expect((await request('POST', '/auth/refresh', { body: { refresh_token } })).status).to.equal(401);
    expect(await fixture.row(created.body.data.id)).to.include({ provider: 'corp', password: null, token: null });
  });

  it('takes over no admin, and no user of another provider', async () => {
    const { service, scim } = fixture;
    const admin = await scim('POST', '/Users', { schemas: [USER], userName: service.admin.email });
    expect(admin.status).to.equal(403);
    await scim('POST', '/Users', { schemas: [USER], userName: 'their@example.com' }, { token: OTHER_TOKEN });
    expect((await scim('POST', '/Users', { schemas: [USER], userName: 'their@example.com' })).status).to.equal(409);
  });
});

describe('a service without a token of SCIM', function () {
  this.timeout(120_000);

  it('has no route of SCIM, and answers as for any unknown path', async () => {
    const service = await startService();
    try {
      for (const token of [undefined, service.admin.token]) {
        const { status, body } = await service.request('GET', '/scim/v2/Users', { token });
        expect([status, body.errors[0].extensions.code]).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
      }
      const wrong = await service.request('GET', '/scim/v2/Users', { token: CORP_TOKEN });
      expect(wrong.status).to.equal(401);
    } finally {
      await service.stop();
    }
  });
});

describe('the start of a service with SCIM', function () {
  this.timeout(120_000);

  for (const [title, settings, message] of [
    ['a token of 31 characters', { AUTH_CORP_SCIM_TOKEN: 'x'.repeat(31) }, 'AUTH_CORP_SCIM_TOKEN has 31 characters'],
    ['a previous token that is short', { AUTH_CORP_SCIM_TOKEN_PREVIOUS: 'x' }, 'AUTH_CORP_SCIM_TOKEN_PREVIOUS has 1'],
    ['one token for two providers', { AUTH_OTHER_SCIM_TOKEN: CORP_TOKEN }, 'are the same'],
    [
      'a file that is missing',
      { AUTH_CORP_SCIM_TOKEN: '', AUTH_CORP_SCIM_TOKEN_FILE: '/nothing/here' },
      'AUTH_CORP_SCIM_TOKEN_FILE',
    ],
    ['a misspelt key', { AUTH_CORP_SCIM_ALOW_ADMIN: 'true' }, 'AUTH_CORP_SCIM_ALLOW_ADMIN'],
    ['a flag that is none', { AUTH_CORP_SCIM_GROUPS: 'perhaps' }, 'AUTH_CORP_SCIM_GROUPS'],
  ] as const) {
    it(`fails for ${title}, and names the setting but no token`, async () => {
      const error = await captureError(startService({ env: { ...scimSettings(), ...settings } }));
      expect(`${error.message} ${JSON.stringify(error)}`).to.include(message);
      expect(`${error.message} ${JSON.stringify(error)}`).not.to.include(CORP_TOKEN);
    });
  }
});

describe('guesses of tokens of SCIM', function () {
  this.timeout(120_000);

  it('cost as many points of RATE_LIMITER as wrong access tokens, and are answered 429 in the form of SCIM', async () => {
    const fixture = await startScimFixture({
      env: { RATE_LIMITER_ENABLED: 'true', RATE_LIMITER_POINTS: '50', RATE_LIMITER_DURATION: '600' },
    });
    try {
      const statuses: number[] = [];
      for (let at = 0; at < 12; at++) {
        const { status, body } = await fixture.scim('GET', '/Users', undefined, { token: `wrong-${at}` });
        statuses.push(status);
        if (status === 429) expect(body.schemas).to.deep.equal([ERROR]);
      }
      expect(statuses.filter((one) => one === 401)).to.have.length.within(5, 10);
      expect(statuses.at(-1)).to.equal(429);
    } finally {
      await fixture.stop();
    }
  });
});
