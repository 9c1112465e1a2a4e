import { expect } from 'chai';
import { type HttpReply, type InProcessService, type RequestOptions, startService } from '../../support/service.ts';

/** Points of a window that is longer than any test, so that the time of the machine does not matter. */
const POINTS = 10;
const DURATION = 3600;
const LIMITED = {
  RATE_LIMITER_ENABLED: 'true',
  RATE_LIMITER_POINTS: String(POINTS),
  RATE_LIMITER_DURATION: String(DURATION),
  IP_TRUST_PROXY: '1',
};

let addresses = 0;
/** An address that no test before has used. */
const freshAddress = () => `198.51.${Math.floor(++addresses / 250)}.${(addresses % 250) + 1}`;

const codeOf = ({ status, body }: HttpReply) => [status, body?.errors?.[0]?.extensions.code];
const EXCEEDED = [429, 'REQUESTS_EXCEEDED'];

describe('the limit of requests of one address', function () {
  this.timeout(120_000);
  let service: InProcessService;
  before(async () => {
    service = await startService({ env: { ...LIMITED, CORS_ENABLED: 'true', CORS_ORIGIN: 'https://app.example' } });
  });
  after(() => service?.stop());

  const ask = (address: string, path = '/server/info', { headers, ...options }: RequestOptions = {}, method = 'GET') =>
    service.request(method, path, { ...options, headers: { ...headers, 'x-forwarded-for': address } });
  const spendAll = async (address: string) => {
    for (let count = 0; count < POINTS; count++) expect((await ask(address)).status).to.equal(200);
  };

  it('a request over the limit is answered 429 REQUESTS_EXCEEDED with limit, reset and Retry-After', async () => {
    const address = freshAddress();
    await spendAll(address);
    const reply = await ask(address);
    expect(codeOf(reply)).to.deep.equal(EXCEEDED);
    const { extensions, message } = reply.body.errors[0];
    expect(extensions).to.have.keys('code', 'limit', 'reset');
    expect(extensions.limit).to.equal(POINTS);
    const left = new Date(extensions.reset).getTime() - Date.now();
    expect(left).to.be.within((DURATION - 300) * 1000, DURATION * 1000 + 1000);
    expect(extensions.reset).to.equal(new Date(extensions.reset).toISOString());
    expect(message).to.match(/^Too many requests\. Try again in \d+ s\.$/);
    expect(Number(reply.headers.get('retry-after'))).to.be.within(DURATION - 300, DURATION);
  });

  it('headers say what is left, with and without X-', async () => {
    const address = freshAddress();
    for (const remaining of [POINTS - 1, POINTS - 2]) {
      const { headers } = await ask(address);
      for (const prefix of ['', 'x-']) {
        expect(headers.get(`${prefix}ratelimit-limit`)).to.equal(String(POINTS));
        expect(headers.get(`${prefix}ratelimit-remaining`)).to.equal(String(remaining));
      }
      expect(Number(headers.get('ratelimit-reset'))).to.be.within(DURATION - 300, DURATION);
      const reset = Number(headers.get('x-ratelimit-reset')) * 1000;
      expect(reset - Date.now()).to.be.within((DURATION - 300) * 1000, DURATION * 1000 + 1000);
      expect(headers.get('retry-after')).to.equal(null);
    }
    await spendAll(freshAddress());
    const exceeded = await ask(address, '/server/info', {}, 'GET');
    expect(exceeded.headers.get('ratelimit-remaining')).to.equal(String(POINTS - 3));
  });

  it('answers of errors have the headers too', async () => {
    const reply = await ask(freshAddress(), '/nothing');
    expect([reply.status, reply.headers.get('ratelimit-remaining')]).to.deep.equal([404, String(POINTS - 1)]);
  });

  it('scripts of allowed origins may read the headers, and preflights cost nothing', async () => {
    const address = freshAddress();
    const headers = { origin: 'https://app.example' };
    const preflight = { ...headers, 'access-control-request-method': 'GET' };
    expect((await ask(address, '/items/x', { headers: preflight }, 'OPTIONS')).status).to.equal(204);
    const reply = await ask(address, '/server/info', { headers });
    expect(reply.headers.get('ratelimit-remaining')).to.equal(String(POINTS - 1));
    expect(reply.headers.get('access-control-expose-headers')?.split(',')).to.include.members([
      'Content-Range',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'X-RateLimit-Remaining',
      'Retry-After',
    ]);
    const foreign = await ask(address, '/server/info', { headers: { origin: 'https://other.example' } });
    expect(foreign.headers.get('access-control-expose-headers')).to.equal(null);
  });

  it('addresses are limited apart', async () => {
    const [one, two] = [freshAddress(), freshAddress()];
    await spendAll(one);
    expect((await ask(one)).status).to.equal(429);
    expect((await ask(two)).status).to.equal(200);
  });

  it('addresses of one IPv6 network of 64 bits are one client, and an IPv4 address in IPv6 form is that address', async () => {
    await spendAll('2001:db8:1:1::1');
    expect((await ask('2001:db8:1:1:ffff::2')).status).to.equal(429);
    expect((await ask('2001:db8:1:2::1')).status).to.equal(200);
    const address = freshAddress();
    await spendAll(address);
    expect((await ask(`::ffff:${address}`)).status).to.equal(429);
  });

  it('entries of X-Forwarded-For that the client has invented do not count', async () => {
    const address = freshAddress();
    await spendAll(address);
    expect((await ask(`${freshAddress()}, ${address}`)).status).to.equal(429);
  });

  it('GET /server/ping is limited', async () => {
    const address = freshAddress();
    await spendAll(address);
    expect(codeOf(await ask(address, '/server/ping'))).to.deep.equal(EXCEEDED);
  });

  it('GET /server/health without credentials is not limited, and with any it is', async () => {
    const address = freshAddress();
    for (let count = 0; count < 2 * POINTS; count++)
      expect((await ask(address, '/server/health')).status).to.equal(200);
    await spendAll(address);
    expect((await ask(address, '/server/health')).status).to.equal(200);
    for (const [path, headers] of [
      ['/server/health', { authorization: 'Bearer guess' }],
      ['/server/health', { cookie: 'service_refresh_token=guess' }],
      ['/server/health?access_token=guess', {}],
    ] as const)
      expect(codeOf(await ask(address, path, { headers })), JSON.stringify([path, headers])).to.deep.equal(EXCEEDED);
  });

  it('a wrong token costs RATE_LIMITER_FAILED_AUTHENTICATION_POINTS more, and a wrong password does', async () => {
    const guesses: readonly ((address: string) => Promise<HttpReply>)[] = [
      (address) => ask(address, '/items/x', { token: 'guess' }),
      (address) => ask(address, '/server/info?access_token=guess'),
      (address) => ask(address, '/auth/login', { body: { email: 'unknown@example.com', password: 'guess' } }, 'POST'),
    ];
    for (const guess of guesses) {
      const address = freshAddress();
      const first = await guess(address);
      expect(codeOf(first)).to.deep.equal([401, 'INVALID_CREDENTIALS']);
      expect(first.headers.get('ratelimit-remaining')).to.equal(String(POINTS - 5));
      await guess(address);
      expect(codeOf(await guess(address))).to.deep.equal(EXCEEDED);
    }
  });

  it('a right token costs one point', async () => {
    const reply = await ask(freshAddress(), '/users/me', { token: service.admin.token });
    expect([reply.status, reply.headers.get('ratelimit-remaining')]).to.deep.equal([200, String(POINTS - 1)]);
  });

  it('REST and GraphQL tell signed-in callers the limits', async () => {
    const token = service.admin.token;
    const { body } = await ask(freshAddress(), '/server/info', { token });
    expect(body.data).to.deep.include({ rateLimit: { points: POINTS, duration: DURATION }, rateLimitGlobal: false });
    const query = '{ server_info { rateLimit { points duration } rateLimitGlobal { points } } }';
    const answer = await ask(freshAddress(), '/graphql/system', { token, body: { query } }, 'POST');
    expect(answer.body.data.server_info).to.deep.equal({
      rateLimit: { points: POINTS, duration: DURATION },
      rateLimitGlobal: null,
    });
  });

  it('the health of the service has a check of the limiter', async () => {
    const { body } = await ask(freshAddress(), '/server/health', { token: service.admin.token });
    const [check] = body.checks['rateLimiter:responseTime'];
    expect(check).to.include({ componentType: 'ratelimiter', status: 'ok', threshold: 150, observedUnit: 'ms' });
    expect(body.checks).not.to.have.property('rateLimiterGlobal:responseTime');
  });
});

describe('the limit of all requests together', function () {
  this.timeout(120_000);
  const ALL = 15;
  let service: InProcessService;
  before(async () => {
    service = await startService({
      env: {
        ...LIMITED,
        RATE_LIMITER_GLOBAL_ENABLED: 'true',
        RATE_LIMITER_GLOBAL_POINTS: String(ALL),
        RATE_LIMITER_GLOBAL_DURATION: String(DURATION),
      },
    });
  });
  after(() => service?.stop());

  it('refuses addresses that have points left, and requests over the limit of their address cost no points of all', async () => {
    const token = service.admin.token;
    const ask = (address: string) =>
      service.request('GET', '/server/info', { token, headers: { 'x-forwarded-for': address } });
    const greedy = freshAddress();
    const replies = [];
    for (let count = 0; count < 30; count++) replies.push(await ask(greedy));
    expect(replies.filter(({ status }) => status === 200)).to.have.length(POINTS);
    const others = [];
    for (let count = 0; count < ALL - POINTS; count++) others.push(await ask(freshAddress()));
    expect(others.map(({ status }) => status)).to.deep.equal(Array(ALL - POINTS).fill(200));
    expect(others[0]?.headers.get('ratelimit-limit')).to.equal(String(POINTS));
    expect(others[0]?.body.data.rateLimitGlobal).to.deep.equal({ points: ALL, duration: DURATION });
    const refused = await ask(freshAddress());
    expect(codeOf(refused)).to.deep.equal(EXCEEDED);
    expect(refused.body.errors[0].extensions.limit).to.equal(ALL);
    expect(refused.headers.get('ratelimit-limit')).to.equal(String(ALL));
    expect(refused.headers.get('ratelimit-remaining')).to.equal('0');
    const health = await service.request('GET', '/server/health');
    expect(health.status).to.equal(200);
  });
});
