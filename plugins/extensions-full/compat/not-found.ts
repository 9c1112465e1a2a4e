import type { EventMeta } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';
import type { Kit } from '../kit.ts';
import { partsOf } from './mount.ts';
import { asRequest } from './request.ts';
import { asResponse } from './response.ts';

type Meta = Readonly<Record<string, unknown>>;

/** Calls a listener of `request.not_found` with request and response as handlers know them; `true` says that it answered. */
export async function answerNotFound(kit: Kit, { event, request }: EventMeta, call: (meta: Meta) => unknown) {
  const { ctx } = request as { readonly ctx: HttpContext };
  const parts = await partsOf(kit, ctx);
  const { res } = ctx;
  const { statusCode } = res;
  const given = { event, request: asRequest(parts, '', `${ctx.path}${ctx.search}`), response: asResponse(ctx) };
  res.statusCode = 200;
  const answer = await call(given);
  // Koa has nothing left to say.
  if (answer === true) ctx.respond = false;
  else if (!res.headersSent) res.statusCode = statusCode;
  return answer;
}
