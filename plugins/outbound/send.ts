import type { Policy } from './addresses.ts';
import { collected, streamOf } from './answer.ts';
import type { Outbound, OutboundRequest, OutboundStream } from './contract.ts';
import { deadlineOf } from './deadline.ts';
import { exchange } from './exchange.ts';
import { OutboundFailure } from './failure.ts';
import { checkedAddresses, type Resolve } from './resolve.ts';

interface Parts {
  readonly policy: Policy;
  readonly resolve: Resolve;
}

/** Resolves, checks and exchanges within one deadline, which lasts to the last byte. */
export function createOutbound({ policy, resolve }: Parts): Outbound {
  async function open(request: OutboundRequest): Promise<OutboundStream> {
    const { url, maxBytes } = request;
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundFailure('denied');
    // A tunnel is not an exchange.
    if (request.method.toUpperCase() === 'CONNECT') throw new OutboundFailure('denied');
    const { signal, within, lift } = deadlineOf(request);
    try {
      // Resolving cannot be stopped; what it answers too late is nobody's any more.
      const addresses = await within(
        checkedAddresses(url.hostname, (address) => policy(address, request.reach), resolve),
      );
      return streamOf(await exchange(request, addresses, signal), { maxBytes, signal, done: lift });
    } catch (error) {
      lift();
      throw error;
    }
  }

  return { open, send: async (request) => collected(await open(request), request.mayHold) };
}
