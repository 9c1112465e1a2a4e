import { createHash } from 'node:crypto';

/** PostgreSQL truncates longer names, so two of them could become equal. */
export const MAX_NAME_BYTES = 63;

/**
 * A name for a constraint or index. A name that PostgreSQL would truncate ends in a digest of the full name instead.
 */
export function buildConstraintOrIndexName(...parts: readonly string[]): string {
  const name = parts.join('_');
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const digest = createHash('sha1').update(name).digest('hex').slice(0, 10);
  let start = name.slice(0, MAX_NAME_BYTES - 11);
  while (Buffer.byteLength(start) > MAX_NAME_BYTES - 11) start = start.slice(0, -1);
  return `${start}_${digest}`;
}
