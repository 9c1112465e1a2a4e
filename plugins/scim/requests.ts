import type { Caller } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { clientInfoOf } from '../http/library.ts';
import { SCIM_PATH } from './error-middleware.ts';
import type { ScimProvider } from './providers.ts';
import type { ScimRequest } from './scim-request.ts';

interface Deps {
  /** PUBLIC_URL. */
  readonly publicUrl: string;
  /** Creates the caller that acts for a provider, at the address of its client. */
  readonly callerOf: (client: Pick<Caller, 'ip' | 'userAgent' | 'origin'>) => Caller;
}

/** The token of a request. Tokens in the address are not taken, since logs have them. */
export const bearerTokenOf = (ctx: HttpContext): string | undefined =>
  /^Bearer +(\S+)$/i.exec(ctx.req.headers.authorization ?? '')?.[1];

export interface ScimRequests {
  /** A request of a provider whose token has been verified. */
  ofContext(ctx: HttpContext, provider: ScimProvider): ScimRequest;
  /** A request that the service makes for a provider itself. */
  ofProvider(provider: ScimProvider): ScimRequest;
}

export function createRequests({ publicUrl, callerOf }: Deps): ScimRequests {
  const ownBase = URL.canParse(publicUrl) ? publicUrl.replace(/\/+$/, '') : undefined;
  const originOf = ({ name }: ScimProvider) => `scim:${name}`;
  return {
    ofContext(ctx, provider) {
      const { ip, userAgent } = clientInfoOf(ctx);
      return {
        provider,
        caller: callerOf({ ip, userAgent, origin: originOf(provider) }),
        base: `${ownBase ?? ctx.origin}${SCIM_PATH}`,
        ifMatch: ctx.req.headers['if-match'],
      };
    },
    ofProvider: (provider) => ({
      provider,
      caller: callerOf({ origin: originOf(provider) }),
      base: SCIM_PATH,
      ifMatch: undefined,
    }),
  };
}
