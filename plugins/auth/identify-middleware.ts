import type { IdentityApi, Middleware } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { clientInfoOf, RequestOfEvent } from '../http/library.ts';
import type { FindClaimsByCookie } from './cookie-claims.ts';
import type { CallerFactory } from './identity-service.ts';
import { presentedToken } from './presented-token.ts';

interface Deps {
  readonly callers: CallerFactory;
  readonly identity: Pick<IdentityApi, 'identify'>;
  readonly byCookie: FindClaimsByCookie;
  /** Path prefixes of plugins that verify tokens of their own. */
  readonly ownTokenPaths: () => readonly string[];
}

/** Sets the caller of a request by its token. A wrong token fails the request; it does not fall back to the Public role. */
export function createIdentifyMiddleware({ callers, identity, byCookie, ownTokenPaths }: Deps): Middleware {
  const hasOwnTokens = (path: string): boolean =>
    ownTokenPaths().some(
      (prefix) => path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/'),
    );

  async function callerWithout(context: HttpContext, client: ReturnType<typeof clientInfoOf>) {
    const claims = await byCookie(context, client.ip);
    return claims ? callers.ofClaims(claims, client) : callers.service.ofPublic(client);
  }

  return {
    name: 'identify',
    phase: 'identify',
    async handle(ctx, next) {
      if (hasOwnTokens(ctx.path)) return next();
      const context = ctx as unknown as HttpContext;
      const client = clientInfoOf(context);
      const named = await callers.ofListeners('authenticate', client, () => ({ req: new RequestOfEvent(context) }));
      const token = named ? undefined : presentedToken(context);
      if (named) identity.identify(ctx, named);
      else if (token === undefined) identity.identify(ctx, await callerWithout(context, client));
      else identity.identify(ctx, await callers.ofPresentedToken(token, client, context.state));
      await next();
    },
  };
}
