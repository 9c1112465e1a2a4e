import { type Failure, fail } from '#kernel';

/** Watches over something that waits for another side: not too long for all of it, and not too long for any one thing. */
export interface Patience {
  /** Aborts when it is over, or when nobody wants the result any more. */
  readonly signal: AbortSignal;
  /** Milliseconds that are left for all of it. */
  left(): number;
  /** Waits for one thing. */
  waiting<T>(work: Promise<T>): Promise<T>;
  /** OUT_OF_TIME where that is why something failed. */
  over(): Failure | undefined;
}

interface Limits {
  /** Milliseconds for all of it. */
  readonly timeout: number;
  /** Milliseconds for one thing. */
  readonly stall: number;
}

export function createPatience({ timeout, stall }: Limits, wanted: AbortSignal): Patience {
  const stop = new AbortController();
  const end = performance.now() + timeout;
  let reason: Failure | undefined;
  return {
    signal: AbortSignal.any([stop.signal, wanted]),
    left: () => Math.max(1, Math.ceil(end - performance.now())),
    async waiting(work) {
      const [duration, what] =
        end - performance.now() < stall
          ? [timeout, `Fetching the file took more than the ${timeout} ms allowed.`]
          : [stall, `Nothing of the file came for ${stall} ms.`];
      const timer = setTimeout(
        () => {
          reason = fail('OUT_OF_TIME', what, { category: 'import', duration });
          stop.abort();
        },
        Math.min(stall, Math.max(1, end - performance.now())),
      );
      try {
        return await work;
      } finally {
        clearTimeout(timer);
      }
    },
    over: () => reason,
  };
}
