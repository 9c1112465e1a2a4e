import { expect } from 'chai';
import type { Context } from 'koa';
import { ERRORS, type ErrorCode, errorEnvelope, Failures, facet, fail } from '#kernel';
import { createCaller } from '../support/caller.ts';
import { createSender } from '../support/send.ts';
import { type TestPlugin, withBootedTestPlugins } from '../support/test-plugins.ts';

/** Codes and statuses as the conventions list them; a changed table has to be changed here as well. */
const STATUS: Readonly<Record<string, number>> = {
  FAILED_VALIDATION: 400,
  INVALID_PAYLOAD: 400,
  INVALID_QUERY: 400,
  INVALID_PATH_PARAMETER: 400,
  INVALID_FOREIGN_KEY: 400,
  RECORD_NOT_UNIQUE: 400,
  NOT_NULL_VIOLATION: 400,
  VALUE_OUT_OF_RANGE: 400,
  VALUE_TOO_LONG: 400,
  CONTAINS_NULL_VALUES: 400,
  ILLEGAL_ASSET_TRANSFORMATION: 400,
  INVALID_METADATA: 400,
  INVALID_CREDENTIALS: 401,
  INVALID_OTP: 401,
  INVALID_IP: 401,
  INVALID_PROVIDER: 401,
  TOKEN_EXPIRED: 401,
  USER_SUSPENDED: 401,
  INVALID_TOKEN: 403,
  FORBIDDEN: 403,
  ROUTE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  OUT_OF_TIME: 408,
  CONTENT_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RANGE_NOT_SATISFIABLE: 416,
  UNPROCESSABLE_ENTITY: 422,
  REQUESTS_EXCEEDED: 429,
  INTERNAL_SERVER_ERROR: 500,
  CAPABILITY_DENIED: 500,
  EVENT_LOOP_DETECTED: 500,
  GUARD_NOT_LOADED: 503,
  SERVICE_UNAVAILABLE: 503,
  INVALID_CONFIG: 503,
};

const codes = Object.keys(ERRORS) as ErrorCode[];
const visitor = { admin: false };

describe('the error envelope', () => {
  it('ERRORS has exactly the codes of the specification', () => {
    expect([...codes].sort()).to.deep.equal(Object.keys(STATUS).sort());
  });

  for (const code of codes) {
    it(`${code} answers ${STATUS[code]} with its code and extensions`, () => {
      const { status, body } = errorEnvelope(fail(code, 'why, for the log', { detail: 1 }), visitor);
      expect(status).to.equal(STATUS[code]);
      expect(body.errors).to.have.length(1);
      expect(body.errors[0]?.extensions).to.include({ code, detail: 1 });
      expect(body.errors[0]?.message).to.be.a('string').with.length.above(0);
      if (status >= 500 && status !== 503) expect(JSON.stringify(body)).not.to.contain('why, for the log');
    });
  }

  it('FORBIDDEN hides its detail from every caller, admins included', () => {
    for (const admin of [false, true]) {
      const { body } = errorEnvelope(fail('FORBIDDEN', 'collection secrets does not exist'), { admin });
      expect(body.errors).to.deep.equal([
        { message: "You don't have permission to access this.", extensions: { code: 'FORBIDDEN' } },
      ]);
    }
  });

  it('extensions of a failure cannot replace its code', () => {
    const { body } = errorEnvelope(fail('FORBIDDEN', 'x', { code: 'FINE' }), visitor);
    expect(body.errors[0]?.extensions).to.deep.equal({ code: 'FORBIDDEN' });
  });

  it('INVALID_PAYLOAD, INVALID_QUERY and UNPROCESSABLE_ENTITY repeat their text in extensions.reason', () => {
    for (const code of ['INVALID_PAYLOAD', 'INVALID_QUERY', 'UNPROCESSABLE_ENTITY'] as const) {
      expect(errorEnvelope(fail(code, 'limit is too large'), visitor).body.errors[0]?.extensions).to.deep.equal({
        reason: 'limit is too large',
        code,
      });
    }
  });

  it('Failures answers all its errors with the status of the first', () => {
    const { status, body } = errorEnvelope(
      new Failures([fail('FAILED_VALIDATION', 'a'), fail('FORBIDDEN', 'b')]),
      visitor,
    );
    expect(status).to.equal(400);
    expect(body.errors.map((error) => error.extensions.code)).to.deep.equal(['FAILED_VALIDATION', 'FORBIDDEN']);
  });

  it('an unexpected exception shows its text to admins only', () => {
    const error = new Error('relation "platform_users" does not exist');
    const hidden = errorEnvelope(error, visitor);
    expect(hidden).to.deep.equal({
      status: 500,
      body: {
        errors: [{ message: 'An unexpected error occurred.', extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
      },
    });
    expect(errorEnvelope(error, { admin: true }).body.errors[0]?.message).to.equal(error.message);
    expect(errorEnvelope('a thrown string', { admin: true }).body.errors[0]?.message).to.equal('a thrown string');
    expect(errorEnvelope(undefined, visitor).status).to.equal(500);
  });

  it('an exception of any middleware is answered as an error envelope', async () => {
    const layer: TestPlugin = {
      name: 'thrower',
      manifest: {
        contributes: { 'http.middleware': { phases: ['route'] } },
        capabilities: { identity: { evidence: ['user'] } },
      },
      register: (host) =>
        host.contribute(facet('http.middleware'), {
          name: 'throw',
          phase: 'route',
          handle: (ctx: Context) => {
            if (ctx.path === '/busy') throw fail('REQUESTS_EXCEEDED', 'slow down', { retryAfter: 7 });
            if (ctx.path === '/method') throw fail('METHOD_NOT_ALLOWED', 'no', { allow: ['GET', 'SEARCH'] });
            if (ctx.path === '/admin') host.identity.identify(ctx, createCaller({ admin: true, app: true }));
            throw new TypeError('x is not a function');
          },
        }),
    };
    await withBootedTestPlugins([layer], async ({ kernel }) => {
      const request = createSender(`http://127.0.0.1:${(await kernel.listen()).port}`);
      const busy = await request('GET', '/busy');
      expect([busy.status, busy.headers.get('retry-after')]).to.deep.equal([429, '7']);
      const method = await request('GET', '/method');
      expect([method.status, method.headers.get('allow')]).to.deep.equal([405, 'GET, SEARCH']);
      const visitors = await request('GET', '/');
      expect([visitors.status, visitors.body.errors[0].message]).to.deep.equal([500, 'An unexpected error occurred.']);
      expect((await request('GET', '/admin')).body.errors[0].message).to.equal('x is not a function');
    });
  });
});
