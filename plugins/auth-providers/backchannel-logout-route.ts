import { Failure, fail } from '#kernel';
import type { HttpContext, Route } from '../http/contract.ts';
import { codeOf, type ThrottledLog } from './failure-log.ts';
import { readFormBody } from './form-body.ts';
import type { ProviderSessions } from './provider-sessions.ts';
import type { OpenProvider } from './providers.ts';
import { BACKCHANNEL_LOGOUT_ROUTE_DESCRIPTION } from './route-descriptions.ts';
import { clientOf, redirectDriverOf } from './sign-in-flow.ts';

interface Deps {
  /** @throws ROUTE_NOT_FOUND for a provider that does not exist or is none of redirects, INVALID_PROVIDER */
  readonly find: (ctx: HttpContext, provider: string) => OpenProvider;
  readonly providerSessions: Pick<ProviderSessions, 'end'>;
  readonly logFailure: ThrottledLog;
}

/** Bytes of the form: a logout token is some hundreds. */
const MAX_FORM = 16 * 1024;

/** `POST /auth/login/<provider>/backchannel-logout`: the provider itself, and no browser, says that sessions are over. */
export const backchannelLogoutRoute = ({ find, providerSessions, logFailure }: Deps): Route => ({
  method: 'POST',
  path: '/auth/login/:provider/backchannel-logout',
  description: BACKCHANNEL_LOGOUT_ROUTE_DESCRIPTION,
  body: 'unread',
  async handle(ctx) {
    const name = ctx.params.provider as string;
    const provider = find(ctx, name);
    const driver = redirectDriverOf(provider);
    if (!driver.readSignOut) throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
    ctx.set('Cache-Control', 'no-store');
    const form = await readFormBody(ctx, MAX_FORM);
    const over = await provider.settings
      .boundedCall(async (call) => driver.readSignOut?.(form, call), clientOf(ctx))
      .catch((error) => {
        logFailure(name, codeOf(error), error);
        // The protocol knows 400 only.
        if (!(error instanceof Failure) || error.code !== 'INVALID_CREDENTIALS') throw error;
        throw fail('INVALID_PAYLOAD', 'The logout token is not accepted.', { path: ['logout_token'] });
      });
    if (over) await providerSessions.end(name, over);
    ctx.body = null;
    ctx.status = 204;
  },
});
