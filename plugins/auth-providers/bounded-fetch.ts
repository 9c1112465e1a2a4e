import { fail } from '#kernel';

interface Options {
  readonly signal: AbortSignal;
  /** Bytes of the longest accepted body. Default 1 MiB. */
  readonly maxBytes?: number;
}

const MAX_BYTES = 1024 * 1024;

/**
 * A `fetch` for requests to a provider: it ends with the signal, follows no redirect, and keeps no more than `maxBytes` of an answer.
 * The addresses are those of the administrator's settings, and those that such a provider names, so any network may be reached.
 * @throws SERVICE_UNAVAILABLE where the provider cannot be reached, is too late, or answers too much
 */
export function createBoundedFetch({ signal, maxBytes = MAX_BYTES }: Options) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const { host } = new URL(url);
    try {
      const response = await fetch(url, { ...init, signal, redirect: 'manual' });
      const body = await readBody(response, maxBytes, host);
      const headers = new Headers(response.headers);
      // The body is decoded already.
      for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) headers.delete(name);
      const isEmpty = [204, 205, 304].includes(response.status);
      return new Response(isEmpty ? null : body, { status: response.status, headers });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof Error && 'code' in error && error.code === 'SERVICE_UNAVAILABLE') throw error;
      throw fail('SERVICE_UNAVAILABLE', `The sign-in provider at ${host} cannot be reached.`);
    }
  };
}

async function readBody(response: Response, maxBytes: number, host: string): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the stream, which closes the connection.
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > maxBytes)
      throw fail('SERVICE_UNAVAILABLE', `The sign-in provider at ${host} answers more than ${maxBytes} bytes.`);
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}
