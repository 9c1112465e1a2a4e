import { isDeepStrictEqual } from 'node:util';
import type { Caller, EventsApi, IdentityApi, Middleware } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { clientInfoOf, RequestOfEvent } from '../http/library.ts';
import { parseAccountability } from './accountability.ts';
import type { AuthClientInfo } from './contract.ts';
import type { FindClaimsByCookie } from './cookie-claims.ts';
import type { CallerFactory } from './identity-service.ts';
import { presentedToken } from './presented-token.ts';

interface Deps {
  readonly callers: CallerFactory;
  readonly identity: Pick<IdentityApi, 'identify' | 'mint'>;
  readonly events: Pick<EventsApi, 'filter' | 'hasListeners'>;
  readonly byCookie: FindClaimsByCookie;
  /** Path prefixes of plugins that verify tokens of their own. */
  readonly ownTokenPaths: () => readonly string[];
}

/** Sets the caller of a request by its token. A wrong token fails the request; it does not fall back to the Public role. */
export function createIdentifyMiddleware({ callers, identity, byCookie, events, ownTokenPaths }: Deps): Middleware {
  const hasOwnTokens = (path: string): boolean =>
    ownTokenPaths().some(
      (prefix) => path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/'),
    );

  async function callerWithout(context: HttpContext, client: ReturnType<typeof clientInfoOf>) {
    const claims = await byCookie(context, client.ip);
    return claims ? callers.ofClaims(claims, client) : callers.service.ofPublic(client);
  }

  /** The caller that a listener of `authenticate` names; undefined where it leaves the request to its token (conventions, "Other filter events"). */
  async function callerOfListeners(context: HttpContext, client: AuthClientInfo): Promise<Caller | undefined> {
    const { ip = null, userAgent = null, origin = null } = client;
    const before = { user: null, role: null, admin: false, app: false, ip, userAgent, origin };
    const caller = await callers.service.ofPublic(client);
    const about = { caller, req: new RequestOfEvent(context) };
    const answer = await events.filter(['authenticate'], { ...before }, about);
    return isDeepStrictEqual(answer, before)
      ? undefined
      : identity.mint('accountability', { ...client, ...parseAccountability(answer) });
  }

  return {
    name: 'identify',
    phase: 'identify',
    async handle(ctx, next) {
      if (hasOwnTokens(ctx.path)) return next();
      const context = ctx as unknown as HttpContext;
      const client = clientInfoOf(context);
      if (events.hasListeners('filter', 'authenticate')) {
        const caller = await callerOfListeners(context, client);
        if (caller) {
          identity.identify(ctx, caller);
          return next();
        }
      }
      const token = presentedToken(context);
      if (token === undefined) identity.identify(ctx, await callerWithout(context, client));
      else identity.identify(ctx, await callers.ofPresentedToken(token, client, context.state));
      await next();
    },
  };
}
