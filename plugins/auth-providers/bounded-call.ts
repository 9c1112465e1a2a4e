import { fail } from '#kernel';
import { createSemaphore } from '../workers/library.ts';
import type { ProviderCall } from './contract.ts';
import { createProviderFetch } from './provider-fetch.ts';

/** Runs calls of one driver within its limits. */
export type BoundedCall = <T>(work: (call: ProviderCall) => Promise<T>) => Promise<T>;

const AT_A_TIME = 20;
const QUEUE = 100;

/**
 * Bounds what one provider can cost the service: so many calls at a time, and each ends at its deadline, whether its driver heeds the
 * signal or not.
 */
export function createBoundedCall(provider: string, timeout: number): BoundedCall {
  const refuse = () =>
    fail('SERVICE_UNAVAILABLE', `Too many sign-ins wait for the provider ${provider}. Try again later.`, {
      retryAfter: 5,
    });
  const places = createSemaphore({ limit: AT_A_TIME, queue: QUEUE, deadline: timeout, refuse });

  return (work) =>
    places.run(async () => {
      const controller = new AbortController();
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        const failure = fail('SERVICE_UNAVAILABLE', `The sign-in provider ${provider} did not answer in time.`);
        late.reject(failure);
        controller.abort(failure);
      }, timeout);
      try {
        return await Promise.race([
          work({ signal: controller.signal, fetch: createProviderFetch(controller.signal) }),
          late.promise,
        ]);
      } finally {
        clearTimeout(timer);
      }
    });
}
