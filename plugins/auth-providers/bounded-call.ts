import { type ErrorCode, Failure, Failures, fail } from '#kernel';
import { createFairSemaphore } from '../workers/library.ts';
import type { ProviderCall } from './contract.ts';
import { createProviderFetch } from './provider-fetch.ts';

/** Runs calls of one driver within its limits; `client` is the network of the client, among which the places are shared. */
export type BoundedCall = <T>(work: (call: ProviderCall) => Promise<T>, client?: string) => Promise<T>;

/** Numbers of calls of one provider, and of those of one client among them. */
const LIMITS = { limit: 20, limitOfKey: 10, queue: 100, queueOfKey: 20 } as const;

/** Codes that a package without imports of the service may put on its errors. */
const CODES: ReadonlySet<unknown> = new Set<ErrorCode>([
  'INVALID_CREDENTIALS',
  'SERVICE_UNAVAILABLE',
  'INVALID_CONFIG',
]);

/**
 * Bounds what one provider can cost the service: so many calls at a time, and each ends at its deadline, whether its driver heeds the
 * signal or not.
 */
export function createBoundedCall(provider: string, timeout: number): BoundedCall {
  const places = createFairSemaphore({
    ...LIMITS,
    deadline: timeout,
    refuse: () =>
      fail('SERVICE_UNAVAILABLE', `Too many sign-ins wait for the provider ${provider}. Try again later.`, {
        retryAfter: 5,
      }),
  });

  return (work, client = '') => places.run(client, () => withDeadline(provider, timeout, work));
}

async function withDeadline<T>(
  provider: string,
  timeout: number,
  work: (call: ProviderCall) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const failure = fail('SERVICE_UNAVAILABLE', `The sign-in provider ${provider} did not answer in time.`);
    late.reject(failure);
    controller.abort(failure);
  }, timeout);
  try {
    const { signal } = controller;
    return await Promise.race([work({ signal, fetch: createProviderFetch(signal) }), late.promise]);
  } catch (error) {
    throw toFailure(error);
  } finally {
    clearTimeout(timer);
  }
}

function toFailure(error: unknown): unknown {
  if (error instanceof Failure || error instanceof Failures) return error;
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return CODES.has(code) ? fail(code as ErrorCode, String(message)) : error;
}
