import type { ProviderFinding } from '../contract.ts';
import type { OpenProvider } from '../providers.ts';
import type { CheckStatements } from './check-statements.ts';

/** Whether the roles of the settings exist, and whether unknown users are registered. */
export async function checkRoles(
  statements: Pick<CheckStatements, 'readRoleNames'>,
  { settings, rules }: OpenProvider,
): Promise<readonly ProviderFinding[]> {
  const { byDefault, mapping } = rules.roles;
  const named = [
    ...(byDefault === null ? [] : [[settings.variableOf('DEFAULT_ROLE_ID'), byDefault] as const]),
    ...(mapping ?? []).map(
      ([group, role]) => [`${settings.variableOf('ROLE_MAPPING')} for the group ${group}`, role] as const,
    ),
  ];
  const names = await statements.readRoleNames([...new Set(named.map(([, role]) => role))]);
  const missing = named.filter(([, role]) => !names.has(role));
  const findings: ProviderFinding[] = missing.map(([where, role]) => ({
    check: 'roles',
    status: 'fail',
    text: `${where} names the role ${role}, which does not exist`,
    remedy: 'copy the key of a role from GET /roles',
  }));
  if (missing.length === 0 && named.length > 0) {
    const text = named.map(([where, role]) => `${where}: ${names.get(role)}`).join('; ');
    findings.push({ check: 'roles', status: 'ok', text });
  }
  return [...findings, describeRegistration(settings, rules)];
}

function describeRegistration(
  { variableOf }: OpenProvider['settings'],
  { allowRegistration, roles }: OpenProvider['rules'],
): ProviderFinding {
  const check = 'registration';
  if (!allowRegistration)
    return { check, status: 'ok', text: 'off: users whom no admin has prepared are refused with INVALID_CREDENTIALS' };
  if (roles.byDefault !== null || roles.mapping)
    return { check, status: 'ok', text: 'on: unknown users are registered' };
  const remedy = `set ${variableOf('DEFAULT_ROLE_ID')} or ${variableOf('ROLE_MAPPING')}`;
  return { check, status: 'warn', text: 'on, and registered users have no role', remedy };
}
