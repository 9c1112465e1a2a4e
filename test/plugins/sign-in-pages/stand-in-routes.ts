import { type ErrorCode, fail, type Host } from '#kernel';
import type { AuthDriver, SignInCheckStep } from '../../../plugins/auth/contract.ts';
import type { HttpContext, Route } from '../../../plugins/http/contract.ts';
import { type TestComposition, writeTestPluginPackages } from '../../support/test-plugins.ts';

/** A request that a page made to a route of the API. */
export interface ReceivedRequest {
  readonly path: string;
  readonly body: unknown;
  readonly query: string;
  readonly userAgent: string | undefined;
}

/** What the stand-ins answer and have received. */
export interface StandIns {
  readonly received: ReceivedRequest[];
  /** A static token that `/shares/auth` answers: the rights with which the shared item is shown. */
  shareToken: string;
  shareItem: string;
  /** The code with which a sign-in by a passkey is refused. */
  passkeyRefusal: ErrorCode | undefined;
  /** Uses of the share that has a limit. */
  uses: number;
}

/** The code that users with `code` in their address need. */
export const CODE = '123456';
export const SHARE = 'b2b0a6a2-0f6a-4a4c-9d34-1c3f5b1f9a01';
/** A share without a password. */
export const OPEN_SHARE = 'b2b0a6a2-0f6a-4a4c-9d34-1c3f5b1f9a02';
export const SHARE_PASSWORD = 'share password';

const public_ = { access: 'public', answers: { 200: {}, 204: {} } } as const;
const describe = (summary: string) => ({ ...public_, summary });

function assertLink(token: unknown, password?: unknown): void {
  if (token === 'used') throw fail('INVALID_PAYLOAD', 'the user is not invited any more');
  if (token === 'expired') throw fail('TOKEN_EXPIRED', 'the link is too old');
  if (token !== 'good') throw fail('INVALID_TOKEN', 'the link is not valid');
  if (password === 'weak') throw fail('FAILED_VALIDATION', 'too weak', { field: 'password', type: 'regex' });
}

function createRoutes(state: StandIns): readonly Route[] {
  const record = (ctx: HttpContext): Record<string, unknown> => {
    const { body } = ctx.state;
    state.received.push({ path: ctx.path, body, query: ctx.querystring, userAgent: ctx.req.headers['user-agent'] });
    return (body ?? {}) as Record<string, unknown>;
  };
  const share = (id: string) => ({
    id,
    collection: 'tune',
    item: state.shareItem,
    password: id === SHARE ? '**********' : null,
    max_uses: null,
    times_used: state.uses,
  });
  return [
    {
      method: 'POST',
      path: '/auth/password/request',
      description: describe('Mails a link.'),
      handle(ctx) {
        const { email } = record(ctx);
        if (typeof email !== 'string' || !email.includes('@')) throw fail('INVALID_PAYLOAD', '"email" is no address');
        ctx.status = 200;
      },
    },
    {
      method: 'POST',
      path: '/auth/password/reset',
      description: describe('Sets a password.'),
      handle(ctx) {
        const { token, password } = record(ctx);
        assertLink(token, password);
        ctx.status = 200;
      },
    },
    {
      method: 'POST',
      path: '/users/invite/accept',
      description: describe('Accepts an invitation.'),
      handle(ctx) {
        const { token, password } = record(ctx);
        assertLink(token, password);
        ctx.status = 204;
      },
    },
    {
      method: 'GET',
      path: '/users/register/verify-email',
      description: { ...describe('Confirms an address.'), query: { token: { description: 'A token.', schema: {} } } },
      handle(ctx) {
        record(ctx);
        assertLink(new URLSearchParams(ctx.querystring).get('token'));
        ctx.redirect('/elsewhere');
      },
    },
    {
      method: 'POST',
      path: '/auth/login/passkey/options',
      description: describe('Answers options for a sign-in by a passkey.'),
      handle(ctx) {
        record(ctx);
        const data = { challenge: 'Y2hhbGxlbmdl', rpId: 'localhost', userVerification: 'required', timeout: 60_000 };
        ctx.body = JSON.stringify({ data });
        ctx.type = 'json';
      },
    },
    {
      method: 'POST',
      path: '/auth/login/passkey',
      description: describe('Signs in by a passkey.'),
      handle(ctx) {
        record(ctx);
        if (state.passkeyRefusal) throw fail(state.passkeyRefusal, 'refused');
        ctx.body = JSON.stringify({ data: { access_token: 'x', expires: 1 } });
        ctx.type = 'json';
      },
    },
    {
      method: 'GET',
      path: '/shares/info/:id',
      description: { ...describe('Tells of a share.'), params: { id: { description: 'A key.', schema: {} } } },
      handle(ctx) {
        const { id = '' } = ctx.params;
        if (id !== SHARE && id !== OPEN_SHARE) throw fail('FORBIDDEN', 'no such share');
        ctx.body = JSON.stringify({ data: share(id) });
        ctx.type = 'json';
      },
    },
    {
      method: 'POST',
      path: '/shares/auth',
      description: describe('Opens a share.'),
      handle(ctx) {
        const body = record(ctx);
        if (body.share === SHARE && body.password !== SHARE_PASSWORD) throw fail('INVALID_CREDENTIALS', 'wrong');
        state.uses++;
        ctx.append('Set-Cookie', 'service_refresh_token=of-the-share; Path=/');
        ctx.body = JSON.stringify({ data: { access_token: state.shareToken, expires: 900_000 } });
        ctx.type = 'json';
      },
    },
  ];
}

/** Providers: a form (LDAP), a redirect and passkeys, as plugins of their own contribute them. */
const drivers: readonly AuthDriver[] = [
  {
    kind: 'credentials',
    name: 'directory',
    provider: 'corporate_ldap',
    icon: 'business',
    schema: {
      type: 'object',
      required: ['identifier', 'password'],
      properties: { identifier: { type: 'string' }, password: { type: 'string' } },
    },
    identifiers: ['identifier'],
    async authenticate({ password }) {
      if (password !== 'directory password') throw fail('INVALID_CREDENTIALS', 'wrong');
      return { externalIdentifier: 'cn=ann' };
    },
  },
  { kind: 'redirect', name: 'openid', provider: 'acme', label: 'Acme <b>Cloud</b>', icon: 'shield' },
  { kind: 'redirect', name: 'passkey', provider: 'passkey', icon: 'passkey' },
];

/** A step that wants a code of users whose user agent says so: no test has to enrol an authenticator. */
const step: SignInCheckStep = {
  name: 'code',
  order: 150,
  check({ client, otp }) {
    if (client.userAgent?.includes('needs code') && otp !== CODE) throw fail('INVALID_OTP', 'no code, or a wrong one');
  },
};

/** Writes a plugin that stands in for the routes of the API that the pages call. */
export async function writeStandIns(): Promise<TestComposition & { readonly state: StandIns }> {
  const state: StandIns = { received: [], shareToken: '', shareItem: '1', passkeyRefusal: undefined, uses: 0 };
  const composition = await writeTestPluginPackages([
    {
      name: 'stand-in-routes',
      manifest: {
        contributes: {
          'http.routes': { prefixes: ['/auth/password', '/auth/login', '/users/invite', '/users/register', '/shares'] },
          'auth.drivers': { names: ['directory', 'openid', 'passkey'] },
          'auth.steps': { names: ['code'] },
        },
      },
      register(host: Host) {
        for (const route of createRoutes(state)) host.contribute('http.routes', route);
        for (const driver of drivers) host.contribute('auth.drivers', driver);
        host.contribute('auth.steps', step);
      },
    },
  ]);
  return { ...composition, state };
}
