import type { EventMeta } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';
import type { ExtensionRuntime } from '../kit.ts';
import { createRequestParts } from './mount.ts';
import { toExtensionRequest } from './request.ts';
import { toExtensionResponse } from './response.ts';

type Meta = Readonly<Record<string, unknown>>;

/** Calls a listener of `request.not_found` with request and response as handlers know them; `true` says that it answered. */
export async function answerNotFound(
  kit: ExtensionRuntime,
  { event, request }: EventMeta,
  call: (meta: Meta) => unknown,
) {
  const { ctx } = request as { readonly ctx: HttpContext };
  const parts = await createRequestParts(kit, ctx);
  const { res } = ctx;
  const { statusCode } = res;
  const given = {
    event,
    request: toExtensionRequest(parts, '', `${ctx.path}${ctx.search}`),
    response: toExtensionResponse(ctx),
  };
  res.statusCode = 200;
  const answer = await call(given);
  // Koa has nothing left to say.
  if (answer === true) ctx.respond = false;
  else if (!res.headersSent) res.statusCode = statusCode;
  return answer;
}
