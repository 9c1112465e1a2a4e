import { filterAccountPayload } from './account-filters.ts';
import { type AccountDeps, type AccountRules, USERS } from './account-rules.ts';
import type { ProviderUserRow } from './account-statements.ts';
import type { CheckedProfile } from './profile.ts';
import { mapRole } from './role-mapping.ts';

/** Takes over what the provider says of a user: names and address where the settings say so, and the role that its groups have. */
export async function updateUser(
  deps: AccountDeps,
  { provider, syncUserInfo, roles }: AccountRules,
  user: ProviderUserRow,
  profile: CheckedProfile,
): Promise<void> {
  const info = syncUserInfo ? await changedInfo(deps, user, profile) : {};
  const values = await filterAccountPayload(deps, 'auth.update', info, { provider, profile });
  const role = mapRole(roles, profile.groups);
  const changes = { ...values, ...(role === undefined || role === user.role ? {} : { role }) };
  if (Object.keys(changes).length > 0) await deps.items.updateOne(deps.systemCaller(), USERS, user.id, changes);
}

/** What differs, without an address that another user has, or that the provider says is not verified. */
async function changedInfo(
  { db, statements, log }: AccountDeps,
  user: ProviderUserRow,
  { firstName, lastName, email, emailVerified }: CheckedProfile,
): Promise<Record<string, unknown>> {
  const names = Object.entries({ first_name: firstName, last_name: lastName }).filter(
    ([field, value]) => value !== undefined && value !== user[field as 'first_name' | 'last_name'],
  );
  const info = Object.fromEntries(names);
  if (email === undefined || email === user.email) return info;
  const { rows } = await db.query<{ id: string }>(statements.PROVIDER_OF_EMAIL, [email]);
  if (emailVerified !== false && rows.every(({ id }) => id === user.id)) return { ...info, email };
  log.warn(
    { user: user.id },
    'the e-mail address at the sign-in provider is not taken over: another user has it, or it is not verified',
  );
  return info;
}
