import { fail } from '#kernel';
import type { Access } from '../access/contract.ts';
import { isWithin, parseAddress } from '../outbound/library.ts';

/** A role may be bound to addresses; those of the Public role are for callers without a role. False where no address is known. */
export async function isAdmitted(
  access: Pick<Access, 'role'>,
  role: string | null,
  ip: string | null | undefined,
): Promise<boolean> {
  const ranges = (await access.role(role))?.addresses;
  if (ranges === undefined) return true;
  const address = parseAddress(ip ?? '');
  return address !== undefined && isWithin(address, ranges);
}

/** @throws INVALID_IP where the address is none of the role's */
export async function checkAddress(...asked: Parameters<typeof isAdmitted>): Promise<void> {
  if (!(await isAdmitted(...asked))) throw fail('INVALID_IP', `${asked[2]} is not among the addresses of the role`);
}
