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
  await assertEmailIsFree(deps, provider, profile.email);
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
 * Asserts that no user has the e-mail address: an account is never taken over by its address. @throws INVALID_PROVIDER, RECORD_NOT_UNIQUE
 */
export async function assertEmailIsFree(
  { db, statements }: Pick<AccountDeps, 'db' | 'statements'>,
  provider: string,
  email: string | undefined,
): Promise<void> {
  const { rows } = await db.query<{ provider: string }>(statements.PROVIDER_OF_EMAIL, [email ?? null]);
  const [owner] = rows;
  if (!owner) return;
  if (owner.provider !== provider)
    throw fail('INVALID_PROVIDER', `the e-mail address is that of a user of ${owner.provider}`);
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
