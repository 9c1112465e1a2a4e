import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { oauth2Settings, type ProviderFixture, startProviderFixture, userOf } from './provider-fixture.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

describe('tokens of a sign-in provider', function () {
  this.timeout(120_000);
  let fixture: ProviderFixture;
  before(async () => {
    fixture = await startProviderFixture({
      env: { SECRETS_ENCRYPTION_KEY: randomBytes(32).toString('base64'), LOG_LEVEL: 'trace' },
      providers: (server) => oauth2Settings('plain', server, { TIMEOUT: '1500ms' }),
    });
  });
  afterEach(() => {
    fixture.server.faults = {};
    fixture.server.expiresIn = 3600;
  });
  after(() => fixture?.stop());

  let count = 0;
  async function signIn(provider: string) {
    const sub = `holder-${++count}`;
    fixture.server.user = { sub, email: `${sub}@example.com`, email_verified: true };
    const { body } = await fixture.signIn(provider);
    return { email: `${sub}@example.com`, token: body.data.refresh_token as string, access: body.data.access_token };
  }
  const refresh = (token: string) =>
    fixture.service.request('POST', '/auth/refresh', { body: { refresh_token: token } });
  const exchanges = () => fixture.server.requests.filter((one) => one === 'POST /token').length;

  it('are stored encrypted, and shown by no route, no revision and no line of the log', async () => {
    const { email, access } = await signIn('oidc');
    const user = await userOf(fixture.service, email);
    const stored = JSON.stringify(user?.auth_data);
    expect(stored).to.contain('$sealed');
    const issued = [...fixture.server.refreshTokens];
    const revisions = await fixture.service.database.query('select * from platform_revisions');
    const { body } = await fixture.service.request('GET', `/users/${user?.id}?fields=*,auth_data,external_identifier`, {
      token: fixture.service.admin.token,
    });
    expect(body.data.auth_data).to.equal('**********');
    const shown = stored + JSON.stringify([revisions, body, fixture.service.log, access]);
    for (const token of issued) expect(shown).not.to.contain(token);
    expect(JSON.stringify(revisions)).not.to.contain('$sealed');
  });

  for (const provider of ['oidc', 'plain']) {
    it(`${provider}: are exchanged by a refresh of the session once they have expired, and not before`, async () => {
      const fresh = await signIn(provider);
      const before = exchanges();
      expect((await refresh(fresh.token)).status).to.equal(200);
      expect(exchanges()).to.equal(before);
      fixture.server.expiresIn = 0;
      const old = await signIn(provider);
      const { length } = fixture.server.requests;
      const first = await refresh(old.token);
      expect([first.status, fixture.server.requests.slice(length)]).to.deep.equal([200, ['POST /token']]);
      // The tokens of the first exchange are used by the second.
      expect((await refresh(first.body.data.refresh_token)).status).to.equal(200);
    });

    it(`${provider}: a refusal of the provider ends the session with INVALID_CREDENTIALS`, async () => {
      fixture.server.expiresIn = 0;
      const { token, email } = await signIn(provider);
      fixture.server.refreshTokens.clear();
      const refused = await refresh(token);
      expect([refused.status, refused.body.errors[0].extensions.code]).to.deep.equal([401, 'INVALID_CREDENTIALS']);
      const sql =
        'select count(*)::int as count from platform_sessions s join platform_users u on u.id = s.user where u.email = $1';
      expect(await fixture.service.database.query(sql, [email])).to.deep.equal([{ count: 0 }]);
      expect((await userOf(fixture.service, email))?.auth_data).to.equal(null);
    });
  }

  it('leave the session alone while the provider is down, hangs or answers garbage', async () => {
    fixture.server.expiresIn = 0;
    for (const answer of [
      (response: import('node:http').ServerResponse) => void response.writeHead(500).end(),
      () => {},
      (response: import('node:http').ServerResponse) => void response.socket?.destroy(),
      (response: import('node:http').ServerResponse) => void response.writeHead(200, JSON_TYPE).end('{}'),
      (response: import('node:http').ServerResponse) =>
        void response.writeHead(429, JSON_TYPE).end('{"error":"slow_down"}'),
      (response: import('node:http').ServerResponse) =>
        void response.writeHead(400, JSON_TYPE).end('{"error":"invalid_request"}'),
    ]) {
      // Each with a user of its own, since a failed exchange is tried again a minute later only.
      const { token } = await signIn('plain');
      fixture.server.faults = { answer: { '/token': answer } };
      const before = exchanges();
      const reply = await refresh(token);
      expect([reply.status, exchanges() - before]).to.deep.equal([200, 1]);
      fixture.server.faults = {};
      const again = await refresh(reply.body.data.refresh_token);
      expect([again.status, exchanges() - before]).to.deep.equal([200, 1]);
    }
  });

  it('are exchanged once by simultaneous refreshes of several sessions of their user', async () => {
    fixture.server.expiresIn = 0;
    const first = await signIn('plain');
    const others = await Promise.all(Array.from({ length: 5 }, () => fixture.signIn('plain')));
    const all = [first.token, ...others.map(({ body }) => body.data.refresh_token as string)];
    fixture.server.expiresIn = 3600;
    const before = exchanges();
    const replies = await Promise.all(all.map(refresh));
    expect(replies.map(({ status }) => status)).to.deep.equal(Array(6).fill(200));
    expect(exchanges() - before).to.equal(1);
  });
});
