import { type Caller, type EventsApi, Failure, Failures, fail, type Log } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { AccountStatements, ProviderUserRow } from './account-statements.ts';
import type { ProviderProfile } from './contract.ts';
import { type CheckedProfile, checkProfile } from './profile.ts';
import { mapRole, type ProviderRoles } from './role-mapping.ts';

const USERS = 'platform_users';

/** How the users of a provider are found and registered. */
export interface AccountRules {
  readonly provider: string;
  readonly allowRegistration: boolean;
  readonly syncUserInfo: boolean;
  readonly requireVerifiedEmail: boolean;
  readonly roles: ProviderRoles;
}

interface Deps {
  readonly db: Db;
  readonly statements: AccountStatements;
  readonly items: Pick<ItemsEngine, 'createOne' | 'updateOne'>;
  readonly events: EventsApi;
  readonly log: Log;
  /** Creates the caller that acts for the provider, whose users have no permissions here yet. */
  readonly systemCaller: () => Caller;
}

export interface ProviderAccounts {
  /**
   * The key of the user whom the provider means; registers the user where the rules allow it.
   * @throws INVALID_CREDENTIALS for an unknown user, INVALID_PROVIDER where the e-mail address or the identifier belongs to a user of
   * another provider, RECORD_NOT_UNIQUE for an address of another user of the same one, and what filters throw.
   */
  resolve(rules: AccountRules, profile: ProviderProfile, caller: Caller): Promise<string>;
}

export function createProviderAccounts({ db, statements, items, events, log, systemCaller }: Deps): ProviderAccounts {
  const find = async (provider: string, identifier: string) =>
    (await db.query<ProviderUserRow>(statements.BY_IDENTIFIER, [provider, identifier])).rows[0];

  /** Filters may change names, address and preferences, and none of what decides who the user is and what the user may do. */
  async function filterPayload(
    event: 'auth.create' | 'auth.update',
    payload: Record<string, unknown>,
    rules: AccountRules,
    profile: CheckedProfile,
    caller: Caller,
  ) {
    const about = { caller, provider: rules.provider, identifier: profile.identifier, providerPayload: profile.claims };
    const filtered = (await events.filter([event], payload, about)) as Record<string, unknown>;
    const { role, status, provider, external_identifier, password, token, tfa_secret, auth_data, ...others } = filtered;
    return others;
  }

  async function register(rules: AccountRules, profile: CheckedProfile, caller: Caller): Promise<string> {
    if (!rules.allowRegistration)
      throw fail('INVALID_CREDENTIALS', `the user is unknown, and ${rules.provider} registers no users`);
    await assertFree(rules.provider, profile);
    const payload = { first_name: profile.firstName, last_name: profile.lastName, email: profile.email };
    const values = await filterPayload('auth.create', payload, rules, profile, caller);
    const role = mapRole(rules.roles, profile.groups);
    const user = {
      ...values,
      role: role === undefined ? rules.roles.byDefault : role,
      status: 'active',
      provider: rules.provider,
      external_identifier: profile.identifier,
    };
    return String(await items.createOne(systemCaller(), USERS, user));
  }

  async function assertFree(provider: string, { email, identifier }: CheckedProfile): Promise<void> {
    const [byEmail, byIdentifier] = [
      email === undefined ? [] : (await db.query<{ provider: string }>(statements.PROVIDER_OF_EMAIL, [email])).rows,
      (await db.query<{ provider: string }>(statements.PROVIDER_OF_IDENTIFIER, [identifier])).rows,
    ];
    const other = [...byEmail, ...byIdentifier].find((user) => user.provider !== provider);
    if (other)
      throw fail('INVALID_PROVIDER', `the e-mail address or identifier is that of a user of ${other.provider}`);
    if (byEmail.length > 0) {
      throw fail('RECORD_NOT_UNIQUE', 'Value of email has to be unique.', {
        collection: USERS,
        field: 'email',
        path: ['email'],
      });
    }
  }

  /** Links the user whom an admin prepared for this provider with the same address, if the provider has verified it. */
  async function link({ provider }: AccountRules, profile: CheckedProfile): Promise<ProviderUserRow | undefined> {
    if (profile.email === undefined || profile.emailVerified !== true) return undefined;
    const [prepared] = (await db.query<ProviderUserRow>(statements.PREPARED, [provider, profile.email])).rows;
    if (!prepared) return undefined;
    await items.updateOne(systemCaller(), USERS, prepared.id, { external_identifier: profile.identifier });
    return prepared;
  }

  async function update(user: ProviderUserRow, rules: AccountRules, profile: CheckedProfile, caller: Caller) {
    const info = rules.syncUserInfo ? await changedInfo(user, profile) : {};
    const changed =
      Object.keys(info).length > 0 || rules.roles.mapping
        ? await filterPayload('auth.update', info, rules, profile, caller)
        : {};
    const role = mapRole(rules.roles, profile.groups);
    const moves = role !== undefined && role !== user.role;
    const changes = { ...changed, ...(moves ? { role } : {}) };
    if (Object.keys(changes).length > 0) await items.updateOne(systemCaller(), USERS, user.id, changes);
  }

  async function changedInfo(user: ProviderUserRow, profile: CheckedProfile): Promise<Record<string, unknown>> {
    const { firstName: first_name, lastName: last_name, email } = profile;
    const changes = Object.entries({ first_name, last_name, email }).filter(
      ([field, value]) => value !== undefined && value !== user[field as keyof ProviderUserRow],
    );
    const info = Object.fromEntries(changes);
    if (info.email === undefined) return info;
    const { rows } = await db.query<{ id: string }>(statements.PROVIDER_OF_EMAIL, [info.email]);
    if (profile.emailVerified !== false && rows.every(({ id }) => id === user.id)) return info;
    log.warn(
      { user: user.id },
      'the new e-mail address at the provider is not verified, or another user has it: it is not taken over',
    );
    const { email: _email, ...rest } = info;
    return rest;
  }

  return {
    async resolve(rules, raw, caller) {
      const profile = checkProfile(raw, rules.requireVerifiedEmail);
      const known = await find(rules.provider, profile.identifier);
      const found =
        known ??
        (await db
          .transaction(async () => {
            await db.query(statements.LOCK, [JSON.stringify(['sign-in provider', rules.provider, profile.identifier])]);
            const user = (await find(rules.provider, profile.identifier)) ?? (await link(rules, profile));
            return user ?? (await register(rules, profile, caller));
          })
          .catch(async (error) => {
            // Another request may have taken the address between the check and the write.
            if (codeOf(error) === 'RECORD_NOT_UNIQUE') await assertFree(rules.provider, profile);
            throw error;
          }));
      if (typeof found === 'string') return found;
      // The steps of the sign-in refuse users who are not active.
      if (found.status === 'active') await update(found, rules, profile, caller);
      return found.id;
    },
  };
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Failures ? error.failures[0]?.code : error instanceof Failure ? error.code : undefined;
