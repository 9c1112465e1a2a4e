import { Failure, Failures, fail } from '#kernel';
import { filterAccountPayload } from './account-filters.ts';
import { type AccountDeps, type AccountRules, USERS } from './account-rules.ts';
import type { CheckedProfile } from './profile.ts';
import { mapRole } from './role-mapping.ts';

/** Registers the user of a provider and answers its key. @throws the errors of `ProviderAccounts.resolve` */
export async function registerUser(deps: AccountDeps, rules: AccountRules, profile: CheckedProfile): Promise<string> {
  const { provider, roles } = rules;
  if (!rules.allowRegistration)
    throw fail('INVALID_CREDENTIALS', `the user is unknown, and ${provider} registers no users`);
  await assertIdentityIsFree(deps, provider, profile);
  const payload = { first_name: profile.firstName, last_name: profile.lastName, email: profile.email };
  const values = await filterAccountPayload(deps, 'auth.create', payload, { provider, profile });
  const role = mapRole(roles, profile.groups);
  const user = {
    ...values,
    role: role === undefined ? roles.byDefault : role,
    status: 'active',
    provider,
    external_identifier: profile.identifier,
  };
  return String(await deps.items.createOne(deps.systemCaller(), USERS, user));
}

/**
 * Asserts that neither the e-mail address nor the identifier is that of a user: an account is never taken over by its address.
 * @throws INVALID_PROVIDER, RECORD_NOT_UNIQUE
 */
export async function assertIdentityIsFree(
  { db, statements }: Pick<AccountDeps, 'db' | 'statements'>,
  provider: string,
  { email, identifier }: CheckedProfile,
): Promise<void> {
  const byEmail = (await db.query<{ provider: string }>(statements.PROVIDER_OF_EMAIL, [email ?? null])).rows;
  const byIdentifier = (await db.query<{ provider: string }>(statements.PROVIDER_OF_IDENTIFIER, [identifier])).rows;
  const other = [...byEmail, ...byIdentifier].find((user) => user.provider !== provider);
  if (other) throw fail('INVALID_PROVIDER', `the e-mail address or identifier is that of a user of ${other.provider}`);
  if (byEmail.length === 0) return;
  throw fail('RECORD_NOT_UNIQUE', 'Value of email has to be unique.', {
    collection: USERS,
    field: 'email',
    path: ['email'],
  });
}

export function isNotUnique(error: unknown): boolean {
  const first = error instanceof Failures ? error.failures[0] : error;
  return first instanceof Failure && first.code === 'RECORD_NOT_UNIQUE';
}
