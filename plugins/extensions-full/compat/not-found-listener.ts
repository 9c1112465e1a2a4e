import type { EventMeta } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';
import type { ExtensionRuntime } from '../extension-runtime.ts';
import { createRequestParts } from './mount.ts';
import { toExtensionRequest } from './request.ts';
import { toExtensionResponse } from './response.ts';

type Meta = Readonly<Record<string, unknown>>;

/** Calls a listener of `request.not_found` with an Express-like request and response; `true` means that it answered. */
export async function callNotFoundListener(
  runtime: ExtensionRuntime,
  { event, request }: EventMeta,
  call: (meta: Meta) => unknown,
) {
  const { ctx } = request as { readonly ctx: HttpContext };
  const parts = await createRequestParts(runtime, ctx);
  const { res } = ctx;
  const { statusCode } = res;
  const listenerMeta = {
    event,
    request: toExtensionRequest(parts, '', `${ctx.path}${ctx.search}`),
    response: toExtensionResponse(ctx),
  };
  res.statusCode = 200;
  const answer = await call(listenerMeta);
  // Koa must not respond: the listener has answered.
  if (answer === true) ctx.respond = false;
  else if (!res.headersSent) res.statusCode = statusCode;
  return answer;
}
