import { expect } from 'chai';
import { openAuthenticated, openSocket, refusedStatus } from '../support/realtime-client.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin, type TestUserWithToken } from './test-users.ts';

const isAuth = ({ type }: { type: string }) => type === 'auth';

/** What the info of the service says to a user. */
const websocketInfo = async (service: InProcessService) =>
  (await service.request('GET', '/server/info', { token: service.admin.token })).body.data.websocket;

describe('the REST-style socket, handshake', function () {
  this.timeout(60_000);
  let service: InProcessService;
  let user: TestUserWithToken;
  const signIn = async (body: object) => (await service.request('POST', '/auth/login', { body })).body.data;

  before(async () => {
    service = await startService({
      env: {
        ...{ WEBSOCKETS_ENABLED: 'true', WEBSOCKETS_REST_AUTH_TIMEOUT: '1', ACCESS_TOKEN_TTL: '2s' },
        ...{ CORS_ENABLED: 'true', CORS_ORIGIN: 'https://app.example.com' },
      },
    });
    service = { ...service, admin: { ...service.admin, token: 'an-admin-token' } };
    await service.database.query(`update platform_users set token = 'an-admin-token' where email = $1`, [
      service.admin.email,
    ]);
    user = await createUserWithPermissions(service, [{ collection: 'platform_users', action: 'read' }]);
    await requestAsAdmin(service, 'PATCH', `/users/${user.id}`, {
      email: 'u@example.com',
      password: 'a long password',
    });
  });
  after(() => service?.stop());

  it('is announced by /server/info', async () => {
    const rest = { authentication: 'handshake', path: '/websocket' };
    const graphql = { authentication: 'handshake', path: '/graphql' };
    expect(await websocketInfo(service)).to.deep.equal({ rest, graphql, heartbeat: 30 });
  });

  it('answers a static token, an access token, an e-mail address and a refresh token, and nothing before', async () => {
    const { access_token } = await signIn({ email: 'u@example.com', password: 'a long password' });
    for (const token of [user.token, access_token]) {
      const client = await openSocket(service.url);
      expect(await client.ask({ type: 'auth', uid: '1', access_token: token })).to.deep.equal({
        ...{ type: 'auth', status: 'ok', uid: '1' },
      });
      expect(client.messages).to.have.length(1);
      client.close();
    }
    const client = await openSocket(service.url);
    const first = await client.ask({ type: 'auth', email: 'u@example.com', password: 'a long password', uid: 7 });
    expect(first).to.have.all.keys('type', 'status', 'refresh_token', 'uid');
    const second = await client.ask({ type: 'auth', refresh_token: first.refresh_token });
    expect([second.status, typeof second.refresh_token]).to.deep.equal(['ok', 'string']);
    expect(second.refresh_token).to.not.equal(first.refresh_token);
    client.close();
  });

  it('closes after wrong credentials', async () => {
    const wrong = [
      { access_token: 'wrong' },
      { email: 'u@example.com', password: 'wrong' },
      { refresh_token: 'wrong' },
      { access_token: `${'a'.repeat(20)}.${'b'.repeat(20)}.${'c'.repeat(20)}` },
    ];
    for (const credentials of wrong) {
      const client = await openSocket(service.url);
      const answer = await client.ask({ type: 'auth', ...credentials });
      expect([answer.type, answer.status, answer.error.code]).to.deep.equal(['auth', 'error', 'AUTH_FAILED']);
      await client.closed();
    }
    const client = await openSocket(service.url);
    expect((await client.ask({ type: 'auth' })).error.code).to.equal('INVALID_PAYLOAD');
    await client.closed();
  });

  it('closes when the first message is another one, or no message comes in time', async () => {
    const client = await openSocket(service.url);
    client.send({ type: 'items', action: 'read', collection: 'note' });
    expect((await client.next(isAuth)).error.code).to.equal('AUTH_FAILED');
    await client.closed();
    const garbage = await openSocket(service.url);
    garbage.send('garbage');
    await garbage.closed();
    const silent = await openSocket(service.url);
    expect((await silent.next(isAuth)).error.code).to.equal('AUTH_TIMEOUT');
    await silent.closed();
  });

  it('takes a token of the upgrade, and refuses a wrong one by 401', async () => {
    const client = await openSocket(service.url, `/websocket?access_token=${user.token}`);
    expect((await client.ask({ type: 'ping', uid: 3 })).type).to.equal('pong');
    client.close();
    expect(await refusedStatus(service.url, '/websocket?access_token=wrong')).to.equal(401);
  });

  it('takes the session cookie of a page of the same host, and of no other', async () => {
    const login = await fetch(`${service.url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'u@example.com', password: 'a long password', mode: 'cookie' }),
    });
    const cookie = login.headers.getSetCookie()[0]?.split(';')[0] as string;
    const client = await openSocket(service.url, '/websocket', { headers: { cookie }, origin: service.url });
    expect((await client.ask({ type: 'ping', uid: 3 })).type).to.equal('pong');
    client.close();
    // Another page that may connect is anonymous all the same.
    const other = await openSocket(service.url, '/websocket', {
      headers: { cookie },
      origin: 'https://app.example.com',
    });
    other.send({ type: 'ping' });
    expect((await other.next(isAuth)).error.code).to.equal('AUTH_FAILED');
    other.close();
  });

  it('refuses pages of other origins by 403', async () => {
    const open = (origin: string) => openSocket(service.url, '/websocket', { origin });
    expect(await refusedStatus(service.url, '/websocket', { origin: 'https://evil.example.com' })).to.equal(403);
    expect(await refusedStatus(service.url, '/websocket', { origin: 'null' })).to.equal(403);
    for (const origin of ['https://app.example.com', service.url]) (await open(origin)).close();
  });

  it('leaves other paths of upgrades alone', async () => {
    expect(await refusedStatus(service.url, '/other')).to.equal(404);
  });

  it('tells of an expired token, and closes without a new one in time', async () => {
    const credentials = { email: 'u@example.com', password: 'a long password' };
    const client = await openAuthenticated(service.url, (await signIn(credentials)).access_token);
    expect((await client.next(({ status }) => status === 'error')).error.code).to.equal('TOKEN_EXPIRED');
    expect((await client.ask({ type: 'auth', access_token: user.token })).status).to.equal('ok');
    await client.settle();
    const other = await openAuthenticated(service.url, (await signIn(credentials)).access_token);
    expect((await other.next(({ status }) => status === 'error')).error.code).to.equal('TOKEN_EXPIRED');
    expect((await other.next(isAuth)).error.code).to.equal('AUTH_TIMEOUT');
    await other.closed();
    expect(client.closeCode).to.equal(undefined);
    client.close();
  });
});

describe('the REST-style socket, public', function () {
  this.timeout(60_000);
  let service: InProcessService;
  before(async () => {
    service = await startService({
      env: { WEBSOCKETS_ENABLED: 'true', WEBSOCKETS_REST_AUTH: 'public', WEBSOCKETS_REST_PATH: '/live/socket' },
    });
  });
  after(() => service?.stop());

  it('needs no credentials, and wrong ones leave it open', async () => {
    expect(await websocketInfo(service)).to.deep.include({ rest: { authentication: 'public', path: '/live/socket' } });
    const client = await openSocket(service.url, '/live/socket');
    await client.settle();
    expect((await client.ask({ type: 'auth', access_token: 'wrong' })).error.code).to.equal('AUTH_FAILED');
    const read = { type: 'items', action: 'read', collection: 'platform_users' };
    expect((await client.ask(read)).error.code).to.equal('INVALID_COLLECTION');
    expect((await client.ask({ type: 'auth', access_token: service.admin.token })).status).to.equal('ok');
    client.close();
    expect(await refusedStatus(service.url, '/live/socket?access_token=wrong')).to.equal(401);
  });
});

describe('the REST-style socket, strict', function () {
  this.timeout(60_000);
  let service: InProcessService;
  before(async () => {
    service = await startService({
      env: {
        ...{ WEBSOCKETS_ENABLED: 'true', WEBSOCKETS_REST_AUTH: 'strict', WEBSOCKETS_HEARTBEAT_PERIOD: '1' },
        ...{ WEBSOCKETS_REST_CONN_LIMIT: '2' },
      },
    });
  });
  after(() => service?.stop());

  it('refuses an upgrade without a token by 401', async () => {
    expect(await refusedStatus(service.url)).to.equal(401);
    (await openSocket(service.url, `/websocket?access_token=${service.admin.token}`)).close();
  });

  it('refuses connections over the limit by 403, and counts those that have left no more', async () => {
    const path = `/websocket?access_token=${service.admin.token}`;
    const clients = [await openSocket(service.url, path), await openSocket(service.url, path)];
    expect(await refusedStatus(service.url, path)).to.equal(403);
    clients[0]?.socket.close();
    await clients[0]?.closed();
    (await openSocket(service.url, path)).close();
    clients[1]?.close();
  });

  it('counts the connections of the address that the proxy names, by the header of IP_CUSTOM_HEADER', async () => {
    const proxied = await startService({
      env: {
        WEBSOCKETS_ENABLED: 'true',
        IP_CUSTOM_HEADER: 'X-Client',
        WEBSOCKETS_ADDRESS_CONN_LIMIT: '1',
        WEBSOCKETS_REST_AUTH: 'public',
      },
    });
    try {
      const from = (address: string) => ({ headers: { 'x-client': address } });
      const first = await openSocket(proxied.url, '/websocket', from('192.0.2.1'));
      const other = await openSocket(proxied.url, '/websocket', from('192.0.2.2'));
      expect(await refusedStatus(proxied.url, '/websocket', from('192.0.2.1'))).to.equal(403);
      for (const one of [first, other]) one.close();
    } finally {
      await proxied.stop();
    }
  });

  it('asks for a sign of life, and closes a client that gives none', async () => {
    const path = `/websocket?access_token=${service.admin.token}`;
    const alive = await openSocket(service.url, path);
    const silent = await openSocket(service.url, path);
    silent.socket.removeAllListeners('message');
    let pings = 0;
    silent.socket.on('message', (data) => {
      if (String(data) === '{"type":"ping"}') pings++;
    });
    await silent.closed();
    expect(pings).to.be.greaterThan(0);
    await alive.settle();
    alive.close();
  });
});

describe('a service without realtime', () => {
  let service: InProcessService;
  before(async () => {
    service = await startService();
  });
  after(() => service?.stop());

  it('says so, and takes no upgrade', async () => {
    expect(await websocketInfo(service)).to.equal(false);
    expect(await refusedStatus(service.url)).to.equal(404);
  });
});
