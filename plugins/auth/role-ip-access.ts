import { fail } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import { isInRanges, parseIpAddress } from '../outbound/library.ts';

/**
 * Whether `ip_access` of the role allows the address; without a role, that of the Public role decides. A role with `ip_access`
 * allows no unknown address.
 */
export async function isAddressAllowedForRole(
  access: Pick<AccessControl, 'role'>,
  role: string | null,
  ip: string | null | undefined,
): Promise<boolean> {
  const ranges = (await access.role(role))?.addresses;
  if (ranges === undefined) return true;
  const address = parseIpAddress(ip ?? '');
  return address !== undefined && isInRanges(address, ranges);
}

/** @throws INVALID_IP for an address that the role does not allow */
export async function assertAddressAllowedForRole(...args: Parameters<typeof isAddressAllowedForRole>): Promise<void> {
  if (!(await isAddressAllowedForRole(...args)))
    throw fail('INVALID_IP', `${args[2]} is not among the addresses of the role`);
}
