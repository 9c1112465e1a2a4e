import type { IncomingMessage } from 'node:http';
import type { Server } from '@tus/server';
import type { HttpContext } from '../http/contract.ts';
import { toTusFailure } from './failures.ts';
import { enforceIdleTimeout } from './idle-timeout.ts';

/** Request headers of the tus protocol. The library also checks other headers, and rejects some that proxies add. */
const PROTOCOL_HEADERS = /^(?:tus-|upload-|content-(?:type|length)$)/;
/** Response headers that the `http` plugin and Koa set themselves. */
const OMITTED_HEADERS = /^(?:access-control-|content-length$|content-type$)/;

type WebRequest = Parameters<Server['handleWeb']>[0];

/**
 * Passes a request to the tus library and its response to the client. Errors become failures like those of other routes.
 * @param limit Bytes of the largest upload.
 */
export async function forwardToTusServer(ctx: HttpContext, server: Server, limit: number | undefined): Promise<void> {
  let failure: unknown;
  server.options.onResponseError = (_request, error) => {
    failure = error;
    return undefined;
  };
  const body = openBody(ctx.req);
  const stopIdleTimeout = enforceIdleTimeout(ctx.req, ctx.state.settings?.idleTimeout ?? 0);
  const request = new Request(`http://localhost${ctx.path}`, {
    method: ctx.method,
    headers: Object.entries(ctx.req.headers).filter(
      (pair): pair is [string, string] => PROTOCOL_HEADERS.test(pair[0]) && typeof pair[1] === 'string',
    ),
    ...(ctx.method === 'POST' || ctx.method === 'PATCH' ? { body: body.stream, duplex: 'half' } : {}),
  } as RequestInit);
  // By the member `runtime` the library learns that the client has left, and keeps the bytes received so far.
  Object.assign(request, { runtime: { name: 'node', node: { req: ctx.req, res: ctx.res } } });
  try {
    const response = await server.handleWeb(request as WebRequest);
    for (const [name, value] of response.headers) if (!OMITTED_HEADERS.test(name)) ctx.set(name, value);
    if (response.status >= 400) {
      const size = { length: Number(ctx.get('Upload-Length')), limit };
      throw toTusFailure(failure ?? { status_code: response.status, body: await response.text() }, size);
    }
    ctx.status = response.status;
    if (response.status !== 204) ctx.body = '';
    ctx.remove('Content-Type');
  } finally {
    stopIdleTimeout();
    body.discard();
  }
}

interface RequestBody {
  readonly stream: ReadableStream<Uint8Array>;
  /** Discards the rest of the body: a client that still sends does not read the response. */
  discard(): void;
}

/** The body of a request, read on demand. */
function openBody(req: IncomingMessage): RequestBody {
  const chunks = req.iterator({ destroyOnReturn: false });
  return {
    stream: ReadableStream.from(chunks),
    discard() {
      if (req.readableEnded || req.destroyed) return;
      void chunks.return?.();
      req.resume();
    },
  };
}
