import type { Policy } from './addresses.ts';
import type { Outbound } from './contract.ts';
import { exchange } from './exchange.ts';
import { OutboundFailure } from './failure.ts';
import { checkedAddresses, type Resolve } from './resolve.ts';

interface Parts {
  readonly policy: Policy;
  readonly resolve: Resolve;
}

/** Resolves, checks and exchanges within one deadline. */
export const createOutbound = ({ policy, resolve }: Parts): Outbound => ({
  async send(request) {
    const { url, timeout, signal } = request;
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundFailure('denied');
    // A tunnel is not an exchange.
    if (request.method.toUpperCase() === 'CONNECT') throw new OutboundFailure('denied');
    const stop = new AbortController();
    const over = new Promise<never>((_resolve, reject) =>
      stop.signal.addEventListener('abort', () => reject(stop.signal.reason), { once: true }),
    );
    over.catch(() => {});
    const left = () => stop.abort(new OutboundFailure('unreachable'));
    const timer = setTimeout(() => stop.abort(new OutboundFailure('timeout')), timeout);
    signal?.addEventListener('abort', left);
    if (signal?.aborted) left();
    try {
      // Resolving cannot be stopped; what it answers too late is nobody's any more.
      const addresses = await Promise.race([checkedAddresses(url.hostname, policy, resolve), over]);
      return await exchange(request, addresses, stop.signal);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', left);
    }
  },
});
