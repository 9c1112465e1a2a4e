import type { HttpContext, Route } from '../http/contract.ts';
import type { DocumentCache } from './document-cache.ts';
import { DOCUMENT_DESCRIPTION } from './route-descriptions.ts';

/** `GET /server/specs/oas`: the document without an envelope (specification, "Server endpoints"). */
export const createDocumentRoute = (documents: DocumentCache): Route => ({
  method: 'GET',
  path: '/server/specs/oas',
  description: DOCUMENT_DESCRIPTION,
  handle: async (ctx) => sendDocument(ctx, documents),
});

async function sendDocument(ctx: HttpContext, documents: DocumentCache): Promise<void> {
  const { tag, json, gzip } = await documents.get(ctx.state.caller);
  ctx.vary(['Authorization', 'Accept-Encoding']);
  ctx.status = 200;
  ctx.set('ETag', tag);
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  const isPacked = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (isPacked) ctx.set('Content-Encoding', 'gzip');
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  ctx.body = isPacked ? gzip : json;
}
