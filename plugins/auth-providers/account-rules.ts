import type { Caller, EventsApi, Log } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { AccountStatements } from './account-statements.ts';
import type { ProviderRoles } from './contract.ts';

export const USERS = 'platform_users';

/** How the users of a provider are found and registered. */
export interface AccountRules {
  readonly provider: string;
  readonly allowRegistration: boolean;
  readonly syncUserInfo: boolean;
  readonly requireVerifiedEmail: boolean;
  /** A sign-in by the provider is two factors at once: users with a second factor here are not asked for a code. */
  readonly trustsSecondFactor: boolean;
  readonly roles: ProviderRoles;
}

export interface AccountDeps {
  readonly db: Db;
  readonly statements: AccountStatements;
  readonly items: Pick<ItemsEngine, 'createOne' | 'updateOne'>;
  readonly events: EventsApi;
  readonly log: Log;
  /** Creates the caller that acts for the provider, whose users have no permissions here yet. */
  readonly systemCaller: () => Caller;
}
