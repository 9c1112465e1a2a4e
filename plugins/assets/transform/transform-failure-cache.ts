import { LRUCache } from 'lru-cache';
import { type Failure, fail } from '#kernel';
import type { ImageTransformPlan } from '../../media/contract.ts';
import type { MediaError } from '../../media/library.ts';

/**
 * Milliseconds for which a failed transformation is remembered: long enough for many requests of a damaged image, short enough
 * for an admin who has fixed the cause.
 */
const FAILURE_TTL = 10_000;

/** The failure for an image that cannot be made. */
export function toTransformFailure({ reason, message }: MediaError, plan: ImageTransformPlan): Failure {
  if (reason === 'broken') return fail('SERVICE_UNAVAILABLE', message, { service: 'assets', reason: message });
  const names = [...new Set(plan.operations.map(([name]) => name))];
  return fail('ILLEGAL_ASSET_TRANSFORMATION', message, {
    invalidTransformations: names.length > 0 ? names : ['toFormat'],
  });
}

/** Cache of recent failures by object, so that not every request repeats a transformation that fails. */
export const createTransformFailureCache = () => new LRUCache<string, Failure>({ max: 1000, ttl: FAILURE_TTL });

/** Cache of objects that are no images, whatever their rows say. An object never changes, so an entry never expires. */
export const createNonImageCache = () => new LRUCache<string, true>({ max: 5000 });
