import { type Failure, fail } from '#kernel';

/** Deadline of an import: one limit for the whole of it, and an idle timeout for each step. */
export interface ImportDeadline {
  /** Aborts at the deadline, when a step is idle too long, or when the client has left. */
  readonly signal: AbortSignal;
  /** Milliseconds until the deadline. */
  remaining(): number;
  /** Waits for one step; aborts `signal` if it takes too long. */
  waitFor<T>(work: Promise<T>): Promise<T>;
  /** The failure OUT_OF_TIME, if the deadline or the idle timeout of a step caused the abort; undefined if the client left. */
  timeoutFailure(): Failure | undefined;
}

interface DeadlineLimits {
  /** Milliseconds for the whole import. */
  readonly timeout: number;
  /** Milliseconds for one step. */
  readonly idleTimeout: number;
}

export function createImportDeadline(
  { timeout, idleTimeout }: DeadlineLimits,
  clientSignal: AbortSignal,
): ImportDeadline {
  const stop = new AbortController();
  const end = performance.now() + timeout;
  let reason: Failure | undefined;
  return {
    signal: AbortSignal.any([stop.signal, clientSignal]),
    remaining: () => Math.max(1, Math.ceil(end - performance.now())),
    async waitFor(work) {
      const [duration, message] =
        end - performance.now() < idleTimeout
          ? [timeout, `Fetching the file took more than the ${timeout} ms allowed.`]
          : [idleTimeout, `Nothing of the file came for ${idleTimeout} ms.`];
      const timer = setTimeout(
        () => {
          reason = fail('OUT_OF_TIME', message, { category: 'import', duration });
          stop.abort();
        },
        Math.min(idleTimeout, Math.max(1, end - performance.now())),
      );
      try {
        return await work;
      } finally {
        clearTimeout(timer);
      }
    },
    timeoutFailure: () => reason,
  };
}
