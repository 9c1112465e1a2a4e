import { expect } from 'chai';
import { redactSecrets } from '../../../plugins/http/request-log.ts';
import { type EchoServer, startEchoServer } from './echo-server.ts';

describe('the middleware edge', () => {
  let echo: EchoServer;
  before(async () => {
    echo = await startEchoServer({ IP_TRUST_PROXY: '2', QUERYSTRING_MAX_PARSE_DEPTH: '2' });
  });
  after(() => echo.stop());

  it('sets the default headers on every response, errors included', async () => {
    for (const path of ['/fixed', '/nowhere']) {
      const { headers } = await echo.request('GET', path);
      expect(headers.get('cache-control')).to.equal('no-cache');
      expect(headers.get('vary')).to.equal('Origin, Cache-Control');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('content-security-policy')).to.match(/default-src 'none'/);
      expect(headers.get('access-control-allow-origin')).to.equal(null);
      expect(headers.get('strict-transport-security')).to.equal(null);
    }
  });

  it('answers 304 to a client that has the same JSON already', async () => {
    const first = await echo.request('GET', '/fixed');
    const etag = first.headers.get('etag') as string;
    expect(first.body).to.deep.equal({ data: [1], meta: { total_count: 1 } });
    // Without `cache-control`, `fetch` sends `no-cache` with a conditional request, and the service answers no 304.
    const headers = { 'if-none-match': etag, 'cache-control': 'max-age=0' };
    const again = await echo.request('GET', '/fixed', { headers });
    expect([again.status, again.body, again.headers.get('etag')]).to.deep.equal([304, undefined, etag]);
    expect(
      (await echo.request('GET', '/fixed', { headers: { ...headers, 'if-none-match': 'W/"other"' } })).status,
    ).to.equal(200);
    expect((await echo.request('POST', '/echo/body', { body: {} })).headers.get('etag')).to.equal(null);
  });

  it('logs one line for each request, without secrets and headers', async () => {
    const from = echo.log.length;
    const headers = { authorization: 'Bearer hidden-1', cookie: 'c=hidden-2' };
    await echo.request('GET', '/fixed?access_token=hidden-3&a=1', { headers });
    await echo.request('GET', '/nowhere', { headers });
    const lines = echo.log.slice(from);
    expect(lines.map(({ msg, method, path, status, owner }) => [msg, method, path, status, owner])).to.deep.equal([
      ['request', 'GET', '/fixed?access_token=--redact--&a=1', 200, '@tenon/http'],
      ['request', 'GET', '/nowhere', 404, '@tenon/http'],
    ]);
    expect(lines[0]?.request).to.be.a('string');
    expect(JSON.stringify(lines)).not.to.contain('hidden');
  });

  it('redacts a secret however its name is encoded', () => {
    for (const name of [
      'access_token',
      'access%5Ftoken',
      'ACCESS_TOKEN',
      'access_token[]',
      '%74oken',
      'otp',
      '%E0%A4%A',
      'password',
      'api_key',
      'access-key',
      'credentials',
    ]) {
      expect(redactSecrets(`/a?b=1&${name}=hidden&c=2`)).to.equal(`/a?b=1&${name}=--redact--&c=2`);
    }
  });

  it('redacts a value of a parameter that holds the name of a secret, encoded or not', () => {
    for (const part of [
      'filter={"api_key":{"_eq":"hidden"}}',
      'filter=%7B%22token%22%3A%7B%22_eq%22%3A%22hidden%22%7D%7D',
      'filter=[{"secret":{"_eq":"hidden"}}]',
      'filter=+%0A%7B%22to%6ben%22:%22hidden%22%7D',
      String.raw`filter={"t\u006fken":{"_eq":"hidden"}}`,
      'deep={"users":{"_filter":{"otp":"hidden"}}}',
      'deep[users][_filter]={"otp":"hidden=="}',
      'variables={"password":"hidden"}',
      'query={users(filter:{token:{_eq:"hidden"}}){id}}',
      'query=query+A{users(filter:{token:{_eq:"hidden"}}){id}}',
      'filter=%7B%22token%22%3A%22hidden%22%zz',
    ]) {
      const [name] = part.split('=', 1);
      expect(redactSecrets(`/a?b=1&${part}&c=2`), part).to.equal(`/a?b=1&${name}=--redact--&c=2`);
    }
  });

  it('keeps values of parameters without the name of a secret', () => {
    for (const part of [
      'filter={"code":{"_eq":1},"state":{"_eq":"open"}}',
      'filter=%7B%22title%22%3A%7B%22_eq%22%3A%2250%25%22%7D%7D',
      'sort=-token',
      'search=one%20two',
      'a',
    ])
      expect(redactSecrets(`/a?b=1&${part}&c=2`)).to.equal(`/a?b=1&${part}&c=2`);
  });

  it('logs no secret of a filter, a deep query or variables', async () => {
    const from = echo.log.length;
    for (const part of [
      'filter={"api_key":"hidden-4"}',
      'variables=%7B%22password%22:%22hidden-5%22%7D',
      String.raw`filter={"api\u005fkey":"hidden-6"}`,
    ])
      await echo.request('GET', `/fixed?${part}`);
    const paths = echo.log.slice(from).map(({ path }) => path);
    expect(paths).to.deep.equal([
      '/fixed?filter=--redact--',
      '/fixed?variables=--redact--',
      '/fixed?filter=--redact--',
    ]);
  });

  it('reads the client address from trusted proxies only', async () => {
    const ip = async (forwarded?: string) =>
      (await echo.request('GET', '/echo/client', { headers: forwarded ? { 'x-forwarded-for': forwarded } : {} })).body
        .data.ip;
    expect(await ip()).to.equal('127.0.0.1');
    expect(await ip('6.6.6.6, 1.2.3.4, 10.0.0.1')).to.equal('1.2.3.4');
    expect(await ip('1.2.3.4')).to.equal('1.2.3.4');
    const untrusting = await startEchoServer();
    try {
      const { body } = await untrusting.request('GET', '/echo/client', {
        headers: { 'x-forwarded-for': '1.2.3.4', 'user-agent': 'test' },
      });
      expect(body.data).to.deep.equal({ ip: '127.0.0.1', userAgent: 'test', origin: null });
    } finally {
      await untrusting.stop();
    }
  });

  it('applies the configured limits to query strings', async () => {
    expect((await echo.request('GET', '/echo/query?a[b][c]=1')).body.data).to.deep.equal({ a: { b: { c: '1' } } });
    const reply = await echo.request('GET', '/echo/query?a[b][c][d]=1');
    expect([reply.status, reply.body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_QUERY']);
  });
});

describe('routes', () => {
  let echo: EchoServer;
  before(async () => {
    echo = await startEchoServer();
  });
  after(() => echo.stop());
  const data = async (path: string) => (await echo.request('GET', path)).body.data;

  it('routes are found by path, those with fewer parameters first, with or without a trailing slash', async () => {
    expect(await data('/echo/items/7')).to.deep.equal({ route: 'one', id: '7' });
    expect(await data('/echo/items/me')).to.deep.equal({ route: 'me' });
    expect(await data('/echo/items/me/')).to.deep.equal({ route: 'me' });
    expect(await data('/echo/items/a%2Fb%20c')).to.deep.equal({ route: 'one', id: 'a/b c' });
  });

  it('routes that do not exist answer ROUTE_NOT_FOUND to any method', async () => {
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/echo'],
      ['POST', '/fixed'],
      ['PUT', '/fixed'],
      ['GET', '//'],
      ['OPTIONS', '/fixed'],
    ] as const) {
      const reply = await echo.request(method, path);
      expect([reply.status, reply.body.errors[0].extensions.code], `${method} ${path}`).to.deep.equal([
        404,
        'ROUTE_NOT_FOUND',
      ]);
    }
  });

  it('routes of GET answer HEAD as well', async () => {
    const reply = await echo.request('HEAD', '/fixed');
    expect([reply.status, reply.body, reply.headers.get('content-length')]).to.deep.equal([200, undefined, '37']);
  });

  it('routes refuse path parameters that cannot be decoded', async () => {
    for (const part of ['%zz', '%00', '%E0%A4']) {
      const reply = await echo.request('GET', `/echo/items/${part}`);
      expect([reply.status, reply.body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_PATH_PARAMETER']);
    }
  });

  it('routes without data answer 204 without a body', async () => {
    const reply = await echo.request('GET', '/echo/nothing');
    expect([reply.status, reply.body]).to.deep.equal([204, undefined]);
  });
});
