import type { EventMeta } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';
import { contextOfEvent } from '../../http/library.ts';
import type { ExtensionRuntime } from '../extension-runtime.ts';
import { createExtensionRequestMembers } from './mount.ts';
import { toExpressLikeRequest } from './request.ts';
import { toExpressLikeResponse } from './response.ts';

type Meta = Readonly<Record<string, unknown>>;

/** Calls a listener of `request.not_found` with an Express-like request and response; `true` means that it answered. */
export async function callNotFoundListener(
  runtime: ExtensionRuntime,
  { event, request }: EventMeta,
  call: (meta: Meta) => unknown,
) {
  const ctx = contextOfEvent(request) as HttpContext;
  const parts = await createExtensionRequestMembers(runtime, ctx);
  const { res } = ctx;
  const { statusCode } = res;
  const listenerMeta = {
    event,
    request: toExpressLikeRequest(parts, '', `${ctx.path}${ctx.search}`),
    response: toExpressLikeResponse(ctx),
  };
  res.statusCode = 200;
  const answer = await call(listenerMeta);
  // Koa must not respond: the listener has answered.
  if (answer === true) ctx.respond = false;
  else if (!res.headersSent) res.statusCode = statusCode;
  return answer;
}
