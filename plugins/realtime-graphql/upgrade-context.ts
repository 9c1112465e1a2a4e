import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import Koa from 'koa';
import type { Caller } from '#kernel';
import type { HttpContext } from '../http/contract.ts';

// An import of `node:http` would load its HTTP client of 13 MB; `require` loads what is used.
const { ServerResponse } = createRequire(import.meta.url)('node:http') as typeof import('node:http');

const app = new Koa();

/**
 * The context of an upgrade request, for fields of other plugins. It has no answer: the connection is a socket by now, and headers that a
 * field sets are lost.
 */
export function createUpgradeContext(request: IncomingMessage, caller: Caller): HttpContext {
  const ctx = app.createContext(request, new ServerResponse(request)) as unknown as HttpContext;
  Object.defineProperty(ctx, 'state', { value: { caller, requestId: '' } });
  return ctx;
}
