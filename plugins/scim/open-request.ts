import type { Caller } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { clientInfoOf } from '../http/library.ts';
import { SCIM_PATH } from './error-middleware.ts';
import type { ScimProviders } from './providers.ts';
import type { ScimRequest } from './scim-request.ts';

interface Deps {
  readonly providers: () => ScimProviders;
  /** PUBLIC_URL. */
  readonly publicUrl: string;
  /** Creates the caller that acts for a provider, at the address of its client. */
  readonly callerOf: (client: Pick<Caller, 'ip' | 'userAgent' | 'origin'>) => Caller;
}

/** Creates the function that verifies the token of a request. It takes tokens of the header `Authorization` alone. */
export function createRequestOpener({ providers, publicUrl, callerOf }: Deps) {
  const ownBase = URL.canParse(publicUrl) ? publicUrl.replace(/\/+$/, '') : undefined;
  return async (ctx: HttpContext): Promise<ScimRequest> => {
    const [, token] = /^Bearer +(\S+)$/i.exec(ctx.req.headers.authorization ?? '') ?? [];
    const provider = await providers().ofToken(token);
    const { ip, userAgent } = clientInfoOf(ctx);
    return {
      provider,
      caller: callerOf({ ip, userAgent, origin: `scim:${provider.name}` }),
      base: `${ownBase ?? ctx.origin}${SCIM_PATH}`,
      ifMatch: ctx.req.headers['if-match'],
    };
  };
}
