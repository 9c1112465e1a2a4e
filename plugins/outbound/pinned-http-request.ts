import type { LookupAddress } from 'node:dns';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import type { OutboundRequest } from './contract.ts';
import { OutboundFailure } from './failure.ts';
import { pickForwardableHeaders } from './headers.ts';

/** A response whose headers have arrived. Its owner must call `end` once the body is read or no longer needed. */
export interface OpenOutboundResponse {
  readonly response: IncomingMessage;
  /** Closes the connection. */
  end(): void;
}

/**
 * Sends one request on a connection of its own to one of these addresses. No redirect is followed and no proxy is used.
 * The signal closes the connection until `end` is called.
 */
export async function performOutboundRequest(
  { method, url, headers = {}, body }: OutboundRequest,
  addresses: readonly LookupAddress[],
  signal: AbortSignal,
): Promise<OpenOutboundResponse> {
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const payload = body === undefined ? undefined : Buffer.from(body);
  const options: RequestOptions & { servername?: string } = {
    method,
    host,
    ...(url.port === '' ? {} : { port: url.port }),
    path: url.pathname + url.search,
    headers: {
      ...pickForwardableHeaders(headers),
      host: url.host,
      'accept-encoding': 'identity',
      ...(payload ? { 'content-length': String(payload.length) } : {}),
    },
    // Without an agent the request reuses no connection and keeps none.
    agent: false,
    lookup: createPinnedLookup(addresses),
    ...(isIP(host) ? {} : { servername: host }),
  };
  // The two modules are imported on first use, since they take a tenth of the start and most services never send a
  // request.
  const { request: open } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  return new Promise<OpenOutboundResponse>((resolve, reject) => {
    const request: ClientRequest = open(options);
    const end = () => {
      signal.removeEventListener('abort', aborted);
      request.destroy();
    };
    const failed = (error: unknown) => {
      reject(error);
      end();
    };
    const aborted = () => failed(signal.reason);
    signal.addEventListener('abort', aborted);
    let isAnswered = false;
    request.on('error', () => failed(new OutboundFailure('unreachable')));
    request.on('close', () => {
      if (!isAnswered) failed(new OutboundFailure('unreachable'));
    });
    request.on('response', (response) => {
      isAnswered = true;
      // The read that fails reports the error. Between two reads the event needs a listener.
      response.on('error', () => {});
      resolve({ response, end });
    });
    if (signal.aborted) aborted();
    else request.end(payload);
  });
}

/** A lookup function that returns the checked addresses for any name. */
const createPinnedLookup =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_host, { all }, callback) => {
    const [first] = addresses as readonly [LookupAddress];
    if (all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
