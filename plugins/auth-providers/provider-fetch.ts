import type { IncomingMessage, RequestOptions } from 'node:http';
import type { ProviderFetch } from './contract.ts';
import { createProviderFailure } from './unavailable.ts';

/** Bytes of the longest accepted answer, where the call does not say. */
const MAX_BYTES = 256 * 1024;
const unavailable = (reason: string) =>
  createProviderFailure('SERVICE_UNAVAILABLE', 'The sign-in provider cannot be reached.', reason);

const WITHOUT_BODY = [204, 205, 304];

/**
 * Creates the `fetch` of one call of a driver. The addresses are those of the administrator's settings and those that such a provider
 * names, so private networks and this machine are reached as well. Every request has a connection of its own.
 */
export function createProviderFetch(signal: AbortSignal): ProviderFetch {
  return async (address, { method = 'GET', headers, body, maxBytes = MAX_BYTES } = {}) => {
    const url = new URL(address);
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      throw unavailable(`it names the address ${url.href}, which is none of http or https`);
    const isForm = body instanceof URLSearchParams;
    const all = new Headers(headers);
    if (isForm && !all.has('content-type')) all.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8');
    all.set('accept-encoding', 'identity');
    const payload = body === undefined || body === null ? undefined : Buffer.from(isForm ? String(body) : body);
    try {
      const options = { method, headers: Object.fromEntries(all), agent: false, signal };
      const answer = await send(url, options, payload);
      const bytes = await readBody(answer, url.host, maxBytes);
      const status = answer.statusCode ?? 502;
      const isEmpty = WITHOUT_BODY.includes(status);
      return new Response(isEmpty ? null : bytes, { status, headers: headersOf(answer) });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if ((error as { code?: unknown }).code === 'SERVICE_UNAVAILABLE') throw error;
      const { code } = error as NodeJS.ErrnoException;
      throw unavailable(`${url.host}: ${code}`);
    }
  };
}

async function send(url: URL, options: RequestOptions, payload: Buffer | undefined): Promise<IncomingMessage> {
  const { request: open } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  return new Promise((resolve, reject) => {
    const request = open(url, options, resolve);
    request.on('error', reject);
    request.end(payload);
  });
}

async function readBody(answer: IncomingMessage, host: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLong = () => unavailable(`${host} answers more than ${maxBytes} bytes`);
  if (Number(answer.headers['content-length']) > maxBytes) {
    answer.destroy();
    throw tooLong();
  }
  const parts: Buffer[] = [];
  let size = 0;
  // Leaving the loop closes the connection.
  for await (const part of answer as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBytes) throw tooLong();
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}

function headersOf({ headers }: IncomingMessage): Headers {
  const all = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') all.set(name, value);
  }
  return all;
}
