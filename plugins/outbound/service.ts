import type { LookupAddress } from 'node:dns';
import type { OperationObserver } from '../telemetry/contract.ts';
import type { CurrentObserver } from '../telemetry/library.ts';
import type { OutboundAddressPolicy } from './address-policy.ts';
import type { OutboundRequest, OutboundService, StreamedOutboundResponse } from './contract.ts';
import { OutboundFailure } from './failure.ts';
import { type ResolveHost, resolveAllowedAddresses } from './host-resolver.ts';
import { type OpenOutboundResponse, performOutboundRequest } from './pinned-http-request.ts';
import { createRequestDeadline } from './request-deadline.ts';
import { createStreamedOutboundResponse, readWholeOutboundResponse } from './response-stream.ts';

interface OutboundOptions {
  readonly policy: OutboundAddressPolicy;
  readonly resolve: ResolveHost;
  readonly observer?: CurrentObserver;
}

/**
 * Creates the service `outbound`. Name resolution, connection and response of a request share one deadline, to the last
 * byte.
 */
export function createOutboundService({ policy, resolve, observer }: OutboundOptions): OutboundService {
  const perform: typeof performOutboundRequest = (request, addresses, signal) =>
    observer?.current
      ? performObserved(observer.current, request, addresses, signal)
      : performOutboundRequest(request, addresses, signal);

  async function open(request: OutboundRequest): Promise<StreamedOutboundResponse> {
    const { url, maxBytes } = request;
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundFailure('denied');
    // CONNECT would open a tunnel.
    if (request.method.toUpperCase() === 'CONNECT') throw new OutboundFailure('denied');
    const { signal, race, cancel } = createRequestDeadline(request);
    try {
      // A lookup cannot be cancelled. A late result is ignored.
      const addresses = await race(
        resolveAllowedAddresses(url.hostname, (address) => policy(address, request.reach), resolve),
      );
      return createStreamedOutboundResponse(await perform(request, addresses, signal), {
        maxBytes,
        signal,
        done: cancel,
      });
    } catch (error) {
      cancel();
      throw error;
    }
  }

  return { open, send: async (request) => readWholeOutboundResponse(await open(request), request.canBuffer) };
}

/** Sends a request with the headers that the observer adds. */
function performObserved(
  observer: OperationObserver,
  request: OutboundRequest,
  ...rest: [addresses: readonly LookupAddress[], signal: AbortSignal]
): Promise<OpenOutboundResponse> {
  const { method, url, owner = '@tenon/outbound' } = request;
  const headers: Record<string, string> = { ...request.headers };
  const setHeader = (name: string, value: string) => {
    headers[name] = value;
  };
  const operation = { kind: 'request', owner, name: `${method.toUpperCase()} ${url.origin}`, setHeader } as const;
  return observer.run(operation, () => performOutboundRequest({ ...request, headers }, ...rest));
}
