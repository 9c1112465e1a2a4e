import { createRequire } from 'node:module';
import Koa from 'koa';
import type { Caller } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import type { UpgradeRequest } from './upgrade-request.ts';

// An import of `node:http` would load its HTTP client of 13 MB; `require` loads what is used.
const http = createRequire(import.meta.url)('node:http') as typeof import('node:http');

const app = new Koa();

/**
 * The context of an upgrade request, for fields of other plugins. It has no answer: the connection is a socket by now, and headers that a
 * field sets are lost.
 */
export function createUpgradeContext({ url, headers, socket }: UpgradeRequest, caller: Caller): HttpContext {
  const request = Object.assign(new http.IncomingMessage(socket), { method: 'GET', url, headers, complete: true });
  const ctx = app.createContext(request, new http.ServerResponse(request)) as unknown as HttpContext;
  Object.defineProperty(ctx, 'state', { value: { caller, requestId: '' } });
  return ctx;
}
