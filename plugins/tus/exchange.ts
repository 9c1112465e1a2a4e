import type { IncomingMessage } from 'node:http';
import type { Server } from '@tus/server';
import type { HttpContext } from '../http/contract.ts';
import { failureOf } from './failures.ts';
import { cutWhenSilent } from './silence.ts';

/** Headers of a request that mean something in the protocol. The library would judge others as well, and refuse proxies' ones. */
const OF_PROTOCOL = /^(?:tus-|upload-|content-(?:type|length)$)/;
/** Who may read an answer is decided elsewhere, and lengths are counted by the kernel. */
const NOT_OURS = /^(?:access-control-|content-length$|content-type$)/;

type WebRequest = Parameters<Server['handleWeb']>[0];

/**
 * Hands a request to the library, and its answer to the client: what it refuses is a failure like those of other routes.
 * @param limit Bytes that an upload may have.
 */
export async function exchange(ctx: HttpContext, server: Server, limit: number | undefined): Promise<void> {
  let failure: unknown;
  server.options.onResponseError = (_request, error) => {
    failure = error;
    return undefined;
  };
  const body = bodyOf(ctx.req);
  const heard = cutWhenSilent(ctx.req, ctx.state.settings?.stall ?? 0);
  const request = new Request(`http://localhost${ctx.path}`, {
    method: ctx.method,
    headers: Object.entries(ctx.req.headers).filter(
      (pair): pair is [string, string] => OF_PROTOCOL.test(pair[0]) && typeof pair[1] === 'string',
    ),
    ...(ctx.method === 'POST' || ctx.method === 'PATCH' ? { body: body.stream, duplex: 'half' } : {}),
  } as RequestInit);
  // By this the library learns that the client has gone, and keeps what came until then.
  Object.assign(request, { runtime: { name: 'node', node: { req: ctx.req, res: ctx.res } } });
  try {
    const response = await server.handleWeb(request as WebRequest);
    for (const [name, value] of response.headers) if (!NOT_OURS.test(name)) ctx.set(name, value);
    if (response.status >= 400) {
      const size = { length: Number(ctx.get('Upload-Length')), limit };
      throw failureOf(failure ?? { status_code: response.status, body: await response.text() }, size);
    }
    ctx.status = response.status;
    if (response.status !== 204) ctx.body = '';
    ctx.remove('Content-Type');
  } finally {
    heard();
    body.letGo();
  }
}

interface Body {
  readonly stream: ReadableStream<Uint8Array>;
  /** The client reads its answer once its own words are taken off the line. */
  letGo(): void;
}

/** The body of a request, of which nothing is read before it is asked for. */
function bodyOf(req: IncomingMessage): Body {
  const chunks = req.iterator({ destroyOnReturn: false });
  return {
    stream: ReadableStream.from(chunks),
    letGo() {
      if (req.readableEnded || req.destroyed) return;
      void chunks.return?.();
      req.resume();
    },
  };
}
