import { expect } from 'chai';
import { WebSocket } from 'ws';
import { openSocket } from '../support/realtime-client.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Points of a window that is longer than any test. */
const POINTS = 10;

/** Status and `Retry-After` of a refused upgrade. */
const refusalOf = (service: InProcessService, path: string, address: string) =>
  new Promise<readonly [number | undefined, string | undefined]>((resolve, reject) => {
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}${path}`, { headers: { 'x-client': address } });
    socket.once('open', () => {
      socket.terminate();
      reject(new Error('the upgrade was accepted'));
    });
    socket.once('error', reject);
    socket.once('unexpected-response', (request, { statusCode, headers }) => {
      request.destroy();
      resolve([statusCode, headers['retry-after']]);
    });
  });

describe('a process over its limit of pressure', function () {
  this.timeout(60_000);

  it('refuses upgrades by 503 with Retry-After', async () => {
    const service = await startService({
      env: {
        ...{ WEBSOCKETS_ENABLED: 'true', WEBSOCKETS_REST_AUTH: 'public', PRESSURE_LIMITER_ENABLED: 'true' },
        ...{ PRESSURE_LIMITER_SAMPLE_INTERVAL: '50', PRESSURE_LIMITER_MAX_MEMORY_RSS: '1' },
        ...{ PRESSURE_LIMITER_RETRY_AFTER: '7' },
      },
    });
    try {
      await until(async () => (await service.request('GET', '/server/info')).status === 503);
      expect(await refusalOf(service, '/websocket', '192.0.2.1')).to.deep.equal([503, '7']);
    } finally {
      await service.stop();
    }
  });
});

describe('the limit of requests of one address, by sockets', function () {
  this.timeout(60_000);
  let service: InProcessService;
  before(async () => {
    service = await startService({
      env: {
        ...{ WEBSOCKETS_ENABLED: 'true', WEBSOCKETS_REST_AUTH: 'public', IP_CUSTOM_HEADER: 'X-Client' },
        ...{ RATE_LIMITER_ENABLED: 'true', RATE_LIMITER_POINTS: String(POINTS), RATE_LIMITER_DURATION: '3600' },
      },
    });
  });
  after(() => service?.stop());

  const open = (address: string, path?: string) => openSocket(service.url, path, { headers: { 'x-client': address } });

  it('an upgrade over the limit is refused by 429 with Retry-After, and other addresses are not', async () => {
    for (let at = 0; at < POINTS; at++) (await open('2001:db8:1:1::1')).close();
    const [status, retryAfter] = await refusalOf(service, '/websocket', '2001:db8:1:1::2');
    expect(status).to.equal(429);
    expect(Number(retryAfter)).to.be.within(3000, 3600);
    (await open('2001:db8:1:2::1')).close();
  });

  it('a wrong token of an upgrade costs what failed authentication costs, and is not looked up over the limit', async () => {
    const statuses: unknown[] = [];
    for (let at = 0; at < 3; at++)
      statuses.push((await refusalOf(service, `/websocket?access_token=wrong${at}`, '192.0.2.1'))[0]);
    expect(statuses).to.deep.equal([401, 401, 429]);
  });

  it('a valid token costs one point, and requests by HTTP count as well', async () => {
    const path = `/websocket?access_token=${service.admin.token}`;
    for (let at = 0; at < POINTS - 1; at++) (await open('192.0.2.2', path)).close();
    const headers = { 'x-client': '192.0.2.2' };
    expect((await service.request('GET', '/server/ping', { headers })).headers.get('ratelimit-remaining')).to.equal(
      '0',
    );
    expect((await refusalOf(service, path, '192.0.2.2'))[0]).to.equal(429);
  });

  for (const [name, credentials] of Object.entries({
    password: { email: 'admin@example.com', password: 'wrong' },
    token: { access_token: 'wrong' },
  }))
    it(`messages "auth" with a wrong ${name} are REQUESTS_EXCEEDED over the limit`, async () => {
      const address = `192.0.2.1${name.length}`;
      const client = await open(address);
      const codes: unknown[] = [];
      for (let at = 0; at < 3; at++) codes.push((await client.ask({ type: 'auth', ...credentials })).error.code);
      expect(codes).to.deep.equal(['AUTH_FAILED', 'AUTH_FAILED', 'REQUESTS_EXCEEDED']);
      client.close();
      expect((await refusalOf(service, '/websocket', address))[0]).to.equal(429);
    });

  it('a GraphQL socket whose message "connection_init" is over the limit is closed with 1013', async () => {
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { 'x-client': '192.0.2.30' },
    });
    socket.once('open', async () => {
      for (let at = 1; at < POINTS; at++) (await open('192.0.2.30')).close();
      socket.send(JSON.stringify({ type: 'connection_init', payload: { access_token: service.admin.token } }));
    });
    const code = await new Promise((resolve) =>
      socket.once('close', (...closing) => resolve([closing[0], String(closing[1])])),
    );
    expect(code).to.deep.equal([1013, 'REQUESTS_EXCEEDED']);
  });
});
