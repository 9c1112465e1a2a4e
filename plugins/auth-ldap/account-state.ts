/** Bits of `userAccountControl` and of the attribute that Active Directory computes besides. */
const DISABLED = 0x2;
const LOCKED = 0x10;
const PASSWORD_EXPIRED = 0x80_0000;
/** Milliseconds between the beginning of the times of Active Directory, 1601, and that of 1970. */
const EPOCH_1601 = -11_644_473_600_000;
/** Values of `accountExpires` that mean never. */
const NEVER: readonly string[] = ['0', '9223372036854775807'];

/** Attributes of Active Directory and, the last one, of the password policy of OpenLDAP. */
export const ACCOUNT_STATE_ATTRIBUTES = [
  'userAccountControl',
  'msDS-User-Account-Control-Computed',
  'accountExpires',
  'pwdAccountLockedTime',
] as const;

/**
 * Why an account may not be used, by what its entry says; undefined for one that may, and where the service cannot read it. Directories
 * refuse the bind of most of these themselves; others, and replicas, do not.
 */
export function describeAccountState(
  textOf: (attribute: (typeof ACCOUNT_STATE_ATTRIBUTES)[number]) => string | undefined,
  now = Date.now(),
): string | undefined {
  const bits = Number(textOf('userAccountControl') ?? 0) | Number(textOf('msDS-User-Account-Control-Computed') ?? 0);
  if (bits & DISABLED) return 'the account is disabled in the directory';
  if (bits & LOCKED || textOf('pwdAccountLockedTime') !== undefined) return 'the account is locked in the directory';
  if (bits & PASSWORD_EXPIRED) return 'the password of the account is expired in the directory';
  const expires = textOf('accountExpires');
  const isExpired = expires !== undefined && !NEVER.includes(expires) && Number(expires) / 10_000 + EPOCH_1601 < now;
  return isExpired ? 'the account is expired in the directory' : undefined;
}
