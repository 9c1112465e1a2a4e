import { type AccountDeps, type AccountRules, USERS } from './account-rules.ts';
import type { ProviderUserRow } from './account-statements.ts';
import type { ProviderProfile } from './contract.ts';
import { type CheckedProfile, checkProfile } from './profile.ts';
import { assertEmailIsFree, isNotUnique, registerUser } from './register-user.ts';
import { updateUser } from './update-user.ts';

export interface ProviderAccounts {
  /**
   * The key of the user whom the provider means; registers the user where the rules allow it.
   * @throws INVALID_CREDENTIALS for an unknown user, INVALID_PROVIDER where the e-mail address belongs to a user of another
   * provider, RECORD_NOT_UNIQUE for an address of another user of the same one, and what filters throw.
   */
  resolve(rules: AccountRules, profile: ProviderProfile): Promise<string>;
}

export function createProviderAccounts(deps: AccountDeps): ProviderAccounts {
  const { db, statements, items, systemCaller } = deps;

  const find = async (provider: string, identifier: string) =>
    (await db.query<ProviderUserRow>(statements.BY_IDENTIFIER, [provider, identifier])).rows[0];

  /** Links the user whom an admin prepared for this provider with the same address, if the provider has verified it. */
  async function link({ provider }: AccountRules, profile: CheckedProfile): Promise<ProviderUserRow | undefined> {
    if (profile.email === undefined || profile.emailVerified !== true) return undefined;
    const [prepared] = (await db.query<ProviderUserRow>(statements.PREPARED, [provider, profile.email])).rows;
    if (!prepared) return undefined;
    await items.updateOne(systemCaller(), USERS, prepared.id, { external_identifier: profile.identifier });
    return prepared;
  }

  /** Answers the user, or the key of a new one. */
  async function linkOrRegister(rules: AccountRules, profile: CheckedProfile): Promise<ProviderUserRow | string> {
    const { provider } = rules;
    const { identifier } = profile;
    try {
      return await db.transaction(async () => {
        await db.query(statements.LOCK, [JSON.stringify(['sign-in provider', provider, identifier])]);
        const user = (await find(provider, identifier)) ?? (await link(rules, profile));
        return user ?? (await registerUser(deps, rules, profile));
      });
    } catch (error) {
      // Another request may have taken the address between the check and the write.
      if (isNotUnique(error)) await assertEmailIsFree(deps, provider, profile.email);
      throw error;
    }
  }

  return {
    async resolve(rules, raw) {
      const profile = checkProfile(raw, rules.requireVerifiedEmail);
      const found = (await find(rules.provider, profile.identifier)) ?? (await linkOrRegister(rules, profile));
      if (typeof found === 'string') return found;
      // The steps of the sign-in refuse users who are not active.
      if (found.status === 'active') await updateUser(deps, rules, found, profile);
      return found.id;
    },
  };
}
