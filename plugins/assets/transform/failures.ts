import { LRUCache } from 'lru-cache';
import { type Failure, fail } from '#kernel';
import type { ImagePlan } from '../../media/contract.ts';
import type { MediaError } from '../../media/library.ts';

/** Milliseconds. Long enough for a crowd at a damaged image, short enough for whoever puts right what was wrong. */
const REMEMBERED = 10_000;

/** What is said of an image that cannot be made. */
export function failureOf({ reason, message }: MediaError, plan: ImagePlan): Failure {
  if (reason === 'broken') return fail('SERVICE_UNAVAILABLE', message, { service: 'assets', reason: message });
  const names = [...new Set(plan.operations.map(([name]) => name))];
  return fail('ILLEGAL_ASSET_TRANSFORMATION', message, {
    invalidTransformations: names.length > 0 ? names : ['toFormat'],
  });
}

/** What went wrong lately, so that it is not tried again for everybody who asks. */
export const createRecentFailures = () => new LRUCache<string, Failure>({ max: 1000, ttl: REMEMBERED });

/** Objects that are no images whatever their rows say; an object never changes, so this stays true. */
export const createNoImages = () => new LRUCache<string, true>({ max: 5000 });
