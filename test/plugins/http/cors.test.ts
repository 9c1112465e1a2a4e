import { expect } from 'chai';
import { startEchoServer } from './echo-server.ts';

const preflight = { origin: 'https://a.example', 'access-control-request-method': 'SEARCH' };
const names = [
  'allow-origin',
  'allow-credentials',
  'allow-methods',
  'allow-headers',
  'expose-headers',
  'max-age',
] as const;

async function headersOf(environment: Record<string, string>, method: string, headers: Record<string, string>) {
  const echo = await startEchoServer(environment);
  try {
    const reply = await echo.request(method, '/fixed', { headers });
    return [reply.status, ...names.map((name) => reply.headers.get(`access-control-${name}`))];
  } finally {
    await echo.stop();
  }
}

describe('CORS', () => {
  const on = { CORS_ENABLED: 'true' };

  it('CORS is off by default', async () => {
    expect(await headersOf({}, 'GET', { origin: 'https://a.example' })).to.deep.equal([
      200,
      null,
      null,
      null,
      null,
      null,
      null,
    ]);
    expect((await headersOf({}, 'OPTIONS', preflight))[0]).to.equal(404);
  });

  it('allows the listed origins only', async () => {
    const environment = { ...on, CORS_ORIGIN: 'https://a.example,https://b.example' };
    expect(await headersOf(environment, 'GET', { origin: 'https://a.example' })).to.deep.equal([
      200,
      'https://a.example',
      'true',
      null,
      null,
      'Content-Range',
      null,
    ]);
    expect(await headersOf(environment, 'GET', { origin: 'https://c.example' })).to.deep.equal([
      200,
      null,
      null,
      null,
      null,
      null,
      null,
    ]);
  });

  it('answers preflights with methods, headers and age', async () => {
    expect(await headersOf({ ...on, CORS_ORIGIN: 'true', CORS_MAX_AGE: '5' }, 'OPTIONS', preflight)).to.deep.equal([
      204,
      'https://a.example',
      'true',
      'GET,POST,PATCH,DELETE,SEARCH',
      'Content-Type,Authorization',
      null,
      '5',
    ]);
    expect(await headersOf({ ...on, CORS_ORIGIN: 'https://b.example' }, 'OPTIONS', preflight)).to.deep.equal([
      204,
      null,
      null,
      null,
      null,
      null,
      null,
    ]);
  });

  it('allows any origin only without credentials', async () => {
    expect(
      (await headersOf({ ...on, CORS_ORIGIN: '*' }, 'GET', { origin: 'https://a.example' })).slice(1, 3),
    ).to.deep.equal(['*', null]);
  });
});
