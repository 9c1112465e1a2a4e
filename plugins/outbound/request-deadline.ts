import type { OutboundRequest } from './contract.ts';
import { OutboundFailure } from './failure.ts';

/** The deadline of one request: aborts after its timeout or with the sender's signal, whichever is first. */
export interface RequestDeadline {
  readonly signal: AbortSignal;
  /** Rejects where `work` is not done at the deadline. */
  race<T>(work: Promise<T>): Promise<T>;
  /** Cancels the deadline. */
  cancel(): void;
}

export function createRequestDeadline({
  timeout,
  signal,
}: Pick<OutboundRequest, 'timeout' | 'signal'>): RequestDeadline {
  const stop = new AbortController();
  const expired = new Promise<never>((_resolve, reject) =>
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason), { once: true }),
  );
  expired.catch(() => {});
  const abort = () => stop.abort(new OutboundFailure('unreachable'));
  const timer = setTimeout(() => stop.abort(new OutboundFailure('timeout')), timeout);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  return {
    signal: stop.signal,
    race: (work) => Promise.race([work, expired]),
    cancel() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}
