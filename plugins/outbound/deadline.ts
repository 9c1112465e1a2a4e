import type { OutboundRequest } from './contract.ts';
import { OutboundFailure } from './failure.ts';

/** The end of everything that belongs to one request, whichever comes first: its time or the sender's own signal. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** What is not done by then fails. */
  within<T>(work: Promise<T>): Promise<T>;
  /** Nothing is waited for any more. */
  lift(): void;
}

export function deadlineOf({ timeout, signal }: Pick<OutboundRequest, 'timeout' | 'signal'>): Deadline {
  const stop = new AbortController();
  const over = new Promise<never>((_resolve, reject) =>
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason), { once: true }),
  );
  over.catch(() => {});
  const left = () => stop.abort(new OutboundFailure('unreachable'));
  const timer = setTimeout(() => stop.abort(new OutboundFailure('timeout')), timeout);
  signal?.addEventListener('abort', left);
  if (signal?.aborted) left();
  return {
    signal: stop.signal,
    within: (work) => Promise.race([work, over]),
    lift() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', left);
    },
  };
}
