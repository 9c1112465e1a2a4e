import { setTimeout as pause } from 'node:timers/promises';
import type { ProviderCall, ProviderSettings } from './contract.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** Milliseconds for which the last document serves where the provider answers none. */
const KEPT_FOR = 24 * 60 * MINUTE;
/** Milliseconds between attempts to renew a document that serves. */
const ATTEMPT_INTERVAL = MINUTE;
/** Milliseconds between attempts where no document serves. Sign-ins wait for the next one. */
const PAUSE_AFTER_FAILURE = SECOND / 4;

/** A document of a provider that its sign-ins need: a discovery document, or metadata. */
export interface ProviderDocument<T> {
  /** @throws what `load` throws, where there is none and the provider answers none that can be used */
  current(call: ProviderCall): Promise<T>;
}

interface ProviderDocumentOptions<T> {
  /** Fetches and checks the document. */
  readonly load: (call: ProviderCall) => Promise<T>;
  /** Milliseconds after which it is fetched again. */
  readonly renewedAfter: number;
}

/**
 * Keeps a document of a provider. It is fetched at the first sign-in, once for all sign-ins that wait for it, and after `renewedAfter`
 * beside the sign-ins, so that none waits for a provider which does not answer. A client without an account may begin sign-ins: after a failure
 * all of them wait a moment for the same next attempt, so that a provider which answers megabytes of garbage does not take the processor
 * from other requests.
 */
export function createProviderDocument<T>(
  provider: Pick<ProviderSettings, 'call'>,
  { load, renewedAfter }: ProviderDocumentOptions<T>,
): ProviderDocument<T> {
  let known: { readonly document: T; readonly at: number } | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<T> | undefined;
  let attempted = Number.NEGATIVE_INFINITY;

  async function fetchDocument(call: ProviderCall): Promise<T> {
    const rest = failedAt + PAUSE_AFTER_FAILURE - performance.now();
    try {
      if (rest > 0) await pause(Math.min(rest, PAUSE_AFTER_FAILURE), undefined, { signal: call.signal });
      const document = await load(call);
      known = { document, at: performance.now() };
      return document;
    } catch (error) {
      failedAt = performance.now();
      throw call.signal.aborted ? call.signal.reason : error;
    } finally {
      pending = undefined;
    }
  }

  function renew(): void {
    if (performance.now() - attempted < ATTEMPT_INTERVAL) return;
    attempted = performance.now();
    // Where it fails the last document serves on.
    provider.call(fetchDocument).catch(() => {});
  }

  return {
    async current(call) {
      const age = known ? performance.now() - known.at : Number.POSITIVE_INFINITY;
      if (known && age < KEPT_FOR) {
        if (age >= renewedAfter) renew();
        return known.document;
      }
      pending ??= fetchDocument(call);
      return pending;
    },
  };
}
