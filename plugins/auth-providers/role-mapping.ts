import { isUuid } from '../database/library.ts';
import type { ProviderRoles, ProviderSettings } from './contract.ts';
import { createProviderBootFailure } from './variables.ts';

const PUBLIC_ROLE = '00000000-0000-0000-0000-000000000000';

/** @throws BootFailure for what is no key of a role. Whether the role exists is known to the database only. */
export function parseProviderRoles(provider: ProviderSettings): ProviderRoles {
  const byDefault = provider.value('DEFAULT_ROLE_ID');
  if (byDefault !== undefined) assertRole(provider.variableOf('DEFAULT_ROLE_ID'), byDefault);
  const value = provider.value<unknown>('ROLE_MAPPING');
  if (value === undefined) return { byDefault: byDefault?.toLowerCase() ?? null, mapping: undefined };
  const variable = provider.variableOf('ROLE_MAPPING');
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw createProviderBootFailure(`${variable} must be an object`, 'write {"<group>":"<key of a role>"}');
  const mapping = Object.entries(value).map(([group, role]) => {
    assertRole(`${variable}, for the group ${JSON.stringify(group)},`, role);
    return [group, role.toLowerCase()] as const;
  });
  return { byDefault: byDefault?.toLowerCase() ?? null, mapping };
}

function assertRole(where: string, role: unknown): asserts role is string {
  if (typeof role !== 'string' || !isUuid(role) || role === PUBLIC_ROLE)
    throw createProviderBootFailure(
      `${where} must be the key of a role, and not of the Public role`,
      'copy it from GET /roles',
    );
}

/**
 * The role that the mapping decides for a user: that of the first entry whose group the user is in, else the default, so that a user
 * who leaves a group loses its role. Undefined without a mapping, which leaves the role as it is.
 */
export function mapRole(
  { byDefault, mapping }: ProviderRoles,
  groups: readonly string[] = [],
): string | null | undefined {
  if (!mapping) return undefined;
  return mapping.find(([group]) => groups.includes(group))?.[1] ?? byDefault;
}
