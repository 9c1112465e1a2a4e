import type { FileInspection, ImageTransformResult, MediaFailureReason } from './contract.ts';
import { MediaError } from './library.ts';
import { IMAGE_METADATA_LIMITS } from './limits.ts';

/**
 * Validates the replies of media processes: hostile bytes that take over a process can then lie about themselves and nothing else.
 */

const REASONS: readonly string[] = [
  'unsupported',
  'damaged',
  'tooLarge',
  'invalid',
  'timeout',
  'broken',
] satisfies readonly MediaFailureReason[];
const TYPE = /^[a-z]+\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;
/** The largest value of an integer column. */
const MAX_COUNT = 2 ** 31 - 1;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const toCount = (value: unknown): number | undefined =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_COUNT ? (value as number) : undefined;

/** Keeps the valid members of a reply to an inspection. */
export function parseFileInspection(found: unknown): FileInspection {
  if (!isObject(found)) return {};
  const { type, metadata } = found;
  const [width, height, duration] = [found.width, found.height, found.duration].map(toCount);
  return {
    ...(typeof type === 'string' && TYPE.test(type) ? { type } : {}),
    ...(width && height ? { width, height } : {}),
    ...(duration === undefined ? {} : { duration }),
    ...(isMetadata(metadata) ? { metadata } : {}),
  };
}

const isMetadata = (value: unknown): value is NonNullable<FileInspection['metadata']> =>
  isObject(value) &&
  Object.values(value).every(isObject) &&
  JSON.stringify(value).length <= IMAGE_METADATA_LIMITS.total;

export function parseMediaFailure({ failed, message }: Readonly<Record<string, unknown>>): MediaError | undefined {
  if (typeof failed !== 'string' || !REASONS.includes(failed)) return undefined;
  const text = typeof message === 'string' ? message.replace(/\p{Cc}+/gu, ' ').slice(0, 300) : 'It cannot be made';
  return new MediaError(failed as MediaFailureReason, text);
}

export function parseImageTransformResult(done: unknown, maxResult: number): ImageTransformResult | undefined {
  if (!isObject(done)) return undefined;
  const { width, height, size } = done;
  const isSide = (side: unknown): side is number =>
    Number.isInteger(side) && Number(side) > 0 && Number(side) <= maxResult;
  if (!isSide(width) || !isSide(height) || !Number.isSafeInteger(size) || Number(size) <= 0) return undefined;
  return { width, height, size: Number(size) };
}
