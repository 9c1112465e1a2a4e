import { fail } from '#kernel';
import type { Access } from '../access/contract.ts';
import { isInRanges, parseAddress } from '../outbound/library.ts';

/** Does `ip_access` of the role allow the address? Without a role the Public role's applies. False for an unknown address. */
export async function isAddressAllowed(
  access: Pick<Access, 'role'>,
  role: string | null,
  ip: string | null | undefined,
): Promise<boolean> {
  const ranges = (await access.role(role))?.addresses;
  if (ranges === undefined) return true;
  const address = parseAddress(ip ?? '');
  return address !== undefined && isInRanges(address, ranges);
}

/** @throws INVALID_IP for an address that the role does not allow */
export async function assertAddressAllowed(...args: Parameters<typeof isAddressAllowed>): Promise<void> {
  if (!(await isAddressAllowed(...args))) throw fail('INVALID_IP', `${args[2]} is not among the addresses of the role`);
}
