import type { Inspected, Made, MediaReason } from './contract.ts';
import { MediaError } from './library.ts';
import { METADATA } from './limits.ts';

/**
 * What a process says is looked at before it is believed: bytes that took it over should be able to tell lies about
 * themselves and nothing else.
 */

const REASONS: readonly string[] = [
  'unsupported',
  'damaged',
  'tooLarge',
  'invalid',
  'timeout',
  'broken',
] satisfies readonly MediaReason[];
const TYPE = /^[a-z]+\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;
/** Milliseconds: what a column of 32 bits holds. */
const MOST = 2 ** 31 - 1;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const countOf = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MOST ? (value as number) : undefined;

/** The members that are what they should be. */
export function inspectedIn(found: unknown): Inspected {
  if (!isObject(found)) return {};
  const { type, metadata } = found;
  const [width, height, duration] = [found.width, found.height, found.duration].map(countOf);
  return {
    ...(typeof type === 'string' && TYPE.test(type) ? { type } : {}),
    ...(width && height ? { width, height } : {}),
    ...(duration === undefined ? {} : { duration }),
    ...(isMetadata(metadata) ? { metadata } : {}),
  };
}

const isMetadata = (value: unknown): value is NonNullable<Inspected['metadata']> =>
  isObject(value) && Object.values(value).every(isObject) && JSON.stringify(value).length <= METADATA.total;

export function failureIn({ failed, message }: Readonly<Record<string, unknown>>): MediaError | undefined {
  if (typeof failed !== 'string' || !REASONS.includes(failed)) return undefined;
  const text = typeof message === 'string' ? message.replace(/\p{Cc}+/gu, ' ').slice(0, 300) : 'It cannot be made';
  return new MediaError(failed as MediaReason, text);
}

export function madeIn(done: unknown, maxResult: number): Made | undefined {
  if (!isObject(done)) return undefined;
  const { width, height, size } = done;
  const isSide = (side: unknown): side is number =>
    Number.isInteger(side) && Number(side) > 0 && Number(side) <= maxResult;
  if (!isSide(width) || !isSide(height) || !Number.isSafeInteger(size) || Number(size) <= 0) return undefined;
  return { width, height, size: Number(size) };
}
