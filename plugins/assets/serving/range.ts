import type { ByteRange } from '../../storage/contract.ts';

/** The range of a `Range` header; null for a missing number. */
export interface RequestedRange {
  readonly start: number | null;
  readonly end: number | null;
}

/**
 * Parses a `Range` header; undefined if it is not a single range of bytes. Other units are unknown, and for several ranges the
 * server may send the whole object (RFC 9110, 14.2).
 */
export function parseRangeHeader(header: string | undefined): RequestedRange | undefined {
  const spec = /^bytes=(.*)$/is.exec(header ?? '')?.[1];
  if (spec === undefined || spec.includes(',')) return undefined;
  const [, start, end] = /^\s*(\d*)-(\d*)\s*$/.exec(spec) ?? [];
  return { start: toNumber(start), end: toNumber(end) };
}

const toNumber = (digits: string | undefined): number | null => (digits ? Number(digits) : null);

/** The range within an object of `size` bytes; undefined if it cannot be satisfied. */
export function resolveRange({ start, end }: RequestedRange, size: number): ByteRange | 'whole' | undefined {
  if (start === null) {
    if (!end) return undefined;
    // An empty object has no last bytes.
    return size === 0 ? 'whole' : { start: Math.max(0, size - end), end: size - 1 };
  }
  if (start >= size || (end !== null && end < start)) return undefined;
  return { start, end: Math.min(end ?? size, size - 1) };
}
