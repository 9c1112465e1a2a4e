import { expect } from 'chai';
import { type InProcessService, startService } from '../../support/service.ts';

const DURATION = '3600';

describe('limits of users and static tokens', function () {
  this.timeout(120_000);
  let service: InProcessService;
  const staticTokens = ['static-token-of-the-first', 'static.token.of-the-second'];
  let users: { readonly id: string; readonly accessToken: string; readonly staticToken: string }[] = [];

  before(async () => {
    service = await startService({
      env: {
        RATE_LIMITER_USER_ENABLED: 'true',
        RATE_LIMITER_USER_POINTS: '8',
        RATE_LIMITER_USER_DURATION: DURATION,
        RATE_LIMITER_TOKEN_ENABLED: 'true',
        RATE_LIMITER_TOKEN_POINTS: '3',
        RATE_LIMITER_TOKEN_DURATION: DURATION,
        ACCESS_TOKEN_TTL: '1h',
      },
    });
    // The requests of the admin below are of a user, too, so that there are few.
    const { id: role } = (await asAdmin('POST', '/roles', { name: 'people' })).body.data;
    users = [];
    for (const [at, token] of staticTokens.entries()) {
      const account = { email: `person${at}@example.com`, password: 'correct horse battery' };
      const { id } = (await asAdmin('POST', '/users', { ...account, role, token })).body.data;
      const { body } = await service.request('POST', '/auth/login', { body: account });
      users.push({ id, accessToken: body.data.access_token, staticToken: token });
    }
  });
  after(() => service?.stop());

  const asAdmin = (method: string, path: string, body: unknown) =>
    service.request(method, path, { token: service.admin.token, body });
  const ask = (token: string | undefined) => service.request('GET', '/server/info', { token });

  it('a user is limited by whatever token, and requests with a static token have a limit of their own', async () => {
    const [one] = users;
    const left = async (token: string | undefined) => {
      const { status, headers } = await ask(token);
      return [status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')];
    };
    expect(await left(one?.accessToken)).to.deep.equal([200, '8', '7']);
    expect(await left(one?.staticToken)).to.deep.equal([200, '3', '2']);
    expect(await left(one?.staticToken)).to.deep.equal([200, '3', '1']);
    expect(await left(one?.staticToken)).to.deep.equal([200, '3', '0']);
    expect(await left(one?.staticToken)).to.deep.equal([429, '3', '0']);
    expect(await left(one?.accessToken)).to.deep.equal([200, '8', '3']);
    for (const remaining of ['2', '1', '0']) expect(await left(one?.accessToken)).to.deep.equal([200, '8', remaining]);
    expect(await left(one?.accessToken)).to.deep.equal([429, '8', '0']);
  });

  it('other users, and clients without a token, are not', async () => {
    expect((await ask(users[1]?.accessToken)).status).to.equal(200);
    expect((await ask(users[1]?.staticToken)).status).to.equal(200);
    for (let count = 0; count < 20; count++) {
      const { status, headers } = await ask(undefined);
      expect([status, headers.get('ratelimit-limit')]).to.deep.equal([200, null]);
    }
  });
});
