import type { ProviderFinding } from '../contract.ts';
import type { OpenProvider } from '../providers.ts';
import type { CheckedUser } from './check-statements.ts';

/** Which role a user has after a sign-in, and what decides it. */
export function explainRole(
  { rules, settings }: OpenProvider,
  groups: readonly string[],
  user: CheckedUser | undefined,
  names: ReadonlyMap<string, string>,
): ProviderFinding {
  const { byDefault, mapping } = rules.roles;
  const entry = mapping?.find(([group]) => groups.includes(group));
  if (entry) {
    const text = `${names.get(entry[1]) ?? entry[1]}: the first entry of ROLE_MAPPING that fits is "${entry[0]}"`;
    return { check: 'role', status: 'ok', text };
  }
  if (!mapping && user)
    return user.role === null
      ? withoutRole(settings, 'the user has none, and no ROLE_MAPPING gives one')
      : {
          check: 'role',
          status: 'ok',
          text: `${names.get(user.role)}: the one of the account, since there is no ROLE_MAPPING`,
        };
  const why = mapping
    ? `DEFAULT_ROLE_ID, since no entry of ROLE_MAPPING names a group of the user (${mapping.map(([group]) => group).join(', ')})`
    : 'DEFAULT_ROLE_ID, which new users have';
  if (byDefault === null) return withoutRole(settings, `none: ${why}, is not set`);
  return { check: 'role', status: 'ok', text: `${names.get(byDefault) ?? byDefault}: ${why}` };
}

const withoutRole = ({ variableOf }: OpenProvider['settings'], text: string): ProviderFinding => ({
  check: 'role',
  status: 'warn',
  text,
  remedy: `put the user into a group of ${variableOf('ROLE_MAPPING')}, or set ${variableOf('DEFAULT_ROLE_ID')}`,
});
