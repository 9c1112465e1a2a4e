import type { ByteRange } from '../../storage/contract.ts';

/** What a `Range` header asks for; null where it says no number. */
export interface AskedRange {
  readonly start: number | null;
  readonly end: number | null;
}

/**
 * Undefined where the header asks for no single range of bytes: other units are not known here, and of several ranges the
 * answer would be a form of its own, for which the whole object may stand as well (RFC 9110, 14.2).
 */
export function askedRange(header: string | undefined): AskedRange | undefined {
  const spec = /^bytes=(.*)$/is.exec(header ?? '')?.[1];
  if (spec === undefined || spec.includes(',')) return undefined;
  const [, start, end] = /^\s*(\d*)-(\d*)\s*$/.exec(spec) ?? [];
  return { start: number(start), end: number(end) };
}

const number = (digits: string | undefined): number | null => (digits ? Number(digits) : null);

/** The part of an object of `size` bytes that is meant; undefined where it has no such part. */
export function partOf({ start, end }: AskedRange, size: number): ByteRange | 'whole' | undefined {
  if (start === null) {
    if (!end) return undefined;
    // No range can name the last bytes of nothing.
    return size === 0 ? 'whole' : { start: Math.max(0, size - end), end: size - 1 };
  }
  if (start >= size || (end !== null && end < start)) return undefined;
  return { start, end: Math.min(end ?? size, size - 1) };
}
