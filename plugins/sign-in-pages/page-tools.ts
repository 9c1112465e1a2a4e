import type { CallerProvider, SealedValues, SignInProviders } from '../auth/contract.ts';
import type { InternalRequests, RoutingService } from '../http/contract.ts';
import type { FormTokens } from './form-token.ts';
import type { SendPage } from './page-response.ts';

/** What the routes of pages work with. */
export interface PageTools {
  readonly api: InternalRequests;
  readonly forms: FormTokens;
  readonly identity: Pick<CallerProvider, 'ofSessionCookie' | 'ofToken'>;
  /** The path of the service at PUBLIC_URL; empty for the root of the host. */
  readonly path: string;
  readonly providers: SignInProviders;
  readonly routing: Pick<RoutingService, 'readForm'>;
  readonly sealed: SealedValues;
  readonly sendPage: SendPage;
  /** Cookies are for encrypted connections only. */
  readonly secure: boolean;
}
