import type { HttpContext } from '../http/contract.ts';
import { SCIM_MEDIA_TYPE } from './error-middleware.ts';
import type { RenderedResource } from './resource-sql.ts';

/** Answers JSON text of PostgreSQL as it is. */
export function sendText(ctx: HttpContext, status: number, json: string): void {
  ctx.status = status;
  ctx.body = json;
  ctx.set('Content-Type', SCIM_MEDIA_TYPE);
}

export const send = (ctx: HttpContext, status: number, value: unknown): void =>
  sendText(ctx, status, JSON.stringify(value));

/** Answers a resource with its entity tag (RFC 7644, section 3.14). */
export function sendResource(ctx: HttpContext, status: number, { json, version }: RenderedResource): void {
  ctx.set('ETag', `W/"${version}"`);
  sendText(ctx, status, json);
}
