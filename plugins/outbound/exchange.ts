import type { LookupAddress } from 'node:dns';
import { type ClientRequest, type IncomingMessage, request as plain, type RequestOptions } from 'node:http';
import { request as encrypted } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { fail } from '#kernel';
import type { OutboundRequest, OutboundResponse } from './contract.ts';
import { OutboundFailure } from './failure.ts';
import { forwardable } from './headers.ts';

/** One request on a connection of its own to one of these addresses. No redirect is followed and no proxy is used. */
export function exchange(
  { method, url, headers = {}, body, maxBytes, mayHold }: OutboundRequest,
  addresses: readonly LookupAddress[],
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const payload = body === undefined ? undefined : Buffer.from(body);
  const options: RequestOptions & { servername?: string } = {
    method,
    host,
    ...(url.port === '' ? {} : { port: url.port }),
    path: url.pathname + url.search,
    headers: {
      ...forwardable(headers),
      host: url.host,
      'accept-encoding': 'identity',
      ...(payload ? { 'content-length': String(payload.length) } : {}),
    },
    // An agent of this one request, so that it finds no connection of others and leaves none.
    agent: false,
    lookup: pinned(addresses),
    ...(isIP(host) ? {} : { servername: host }),
  };
  return new Promise<OutboundResponse>((resolve, reject) => {
    const request: ClientRequest = (url.protocol === 'https:' ? encrypted : plain)(options);
    const end = (settle: () => void) => {
      signal.removeEventListener('abort', aborted);
      settle();
      request.destroy();
    };
    const failed = (error: unknown) => end(() => reject(error));
    const aborted = () => failed(signal.reason);
    signal.addEventListener('abort', aborted);
    let isAnswered = false;
    request.on('error', () => failed(new OutboundFailure('unreachable')));
    request.on('close', () => {
      if (!isAnswered) failed(new OutboundFailure('unreachable'));
    });
    request.on('response', (response) => {
      isAnswered = true;
      read(response, maxBytes, mayHold).then((bytes) => {
        const { statusCode = 0, headersDistinct } = response;
        end(() => resolve({ status: statusCode, headers: joined(headersDistinct), body: bytes }));
      }, failed);
    });
    if (signal.aborted) aborted();
    else request.end(payload);
  });
}

/** Answers what was checked, whatever is asked. */
const pinned =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_host, { all }, callback) => {
    const [first] = addresses as readonly [LookupAddress];
    if (all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };

/** Counted while it is read, whatever the other side says of its length. */
async function read(
  response: IncomingMessage,
  maxBytes: number,
  mayHold: OutboundRequest['mayHold'] = () => true,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  let isHeld = true;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      size += part.length;
      isHeld = mayHold(part.length);
      if (size > maxBytes || !isHeld) break;
      parts.push(part);
    }
  } catch {
    throw new OutboundFailure('unreachable');
  }
  if (size > maxBytes) throw fail('CONTENT_TOO_LARGE', `The answer is longer than ${maxBytes} bytes.`);
  if (!isHeld) throw fail('REQUESTS_EXCEEDED', 'Too much is being received at the same time.');
  if (!response.complete) throw new OutboundFailure('unreachable');
  return Buffer.concat(parts);
}

const joined = (headers: NodeJS.Dict<string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, values = []]) => [name, values.join(', ')]));
