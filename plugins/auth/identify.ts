import type { IdentityApi, Middleware } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { clientOf } from '../http/library.ts';
import type { FindByCookie } from './asset-cookie.ts';
import type { OwnIdentity } from './identity.ts';
import { presentedToken } from './presented-token.ts';

interface Deps {
  readonly callers: OwnIdentity;
  readonly identity: Pick<IdentityApi, 'identify'>;
  readonly byCookie: FindByCookie;
}

/** Makes a request the caller's whose token it brings. A token that is wrong fails the request: it does not become the Public role's. */
export function identify({ callers, identity, byCookie }: Deps): Middleware {
  async function callerWithout(context: HttpContext, client: ReturnType<typeof clientOf>) {
    const claims = await byCookie(context, client.ip);
    return claims ? callers.ofClaims(claims, client) : callers.service.ofPublic(client);
  }

  return {
    name: 'identify',
    phase: 'identify',
    async handle(ctx, next) {
      const context = ctx as unknown as HttpContext;
      const client = clientOf(context);
      const token = presentedToken(context);
      const caller = await (token === undefined
        ? callerWithout(context, client)
        : callers.service.ofToken(token, client));
      identity.identify(ctx, caller);
      await next();
    },
  };
}
