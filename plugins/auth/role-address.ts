import { fail } from '#kernel';
import type { Access } from '../access/contract.ts';

/**
 * A role may be bound to addresses; those of the Public role are for callers without a role.
 * @throws INVALID_IP for an address that is none of them, and where none is known.
 */
export async function checkAddress(
  access: Pick<Access, 'role'>,
  role: string | null,
  ip: string | null | undefined,
): Promise<void> {
  const addresses = (await access.role(role))?.addresses ?? [];
  if (addresses.length > 0 && (!ip || !addresses.includes(ip))) {
    throw fail('INVALID_IP', `${ip} is not among the addresses of the role`);
  }
}
