import { createHash } from 'node:crypto';

/** PostgreSQL cuts longer names off, so two of them could become one. */
export const MAX_NAME_BYTES = 63;

/** A name for a constraint or index; one that would be cut off ends in a digest of the whole instead. */
export function buildObjectName(...parts: readonly string[]): string {
  const whole = parts.join('_');
  if (Buffer.byteLength(whole) <= MAX_NAME_BYTES) return whole;
  const digest = createHash('sha1').update(whole).digest('hex').slice(0, 10);
  let start = whole.slice(0, MAX_NAME_BYTES - 11);
  while (Buffer.byteLength(start) > MAX_NAME_BYTES - 11) start = start.slice(0, -1);
  return `${start}_${digest}`;
}
