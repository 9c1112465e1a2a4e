import type { Middleware, RequestState } from '#kernel';
import type { RoutingService } from '../http/contract.ts';
import type { createReadRequests } from './request/read-request.ts';
import { isGraphqlPath, isNoStore, isQueryDocument, requestKindOf } from './request/request-kind.ts';
import type { ResponseCache } from './response-cache.ts';

interface Deps {
  readonly cache: ResponseCache;
  readonly requests: ReturnType<typeof createReadRequests>;
  readonly routing: Pick<RoutingService, 'readBody'>;
  readonly isSkipAllowed: boolean;
  readonly isListening: () => boolean;
  readonly waitForConfirmation: () => Promise<void>;
}

/** Answers requests behind the layer that identifies callers: a stored answer is sent only after the checks of every request. */
export function createCacheRequestHandler(deps: Deps): Middleware['handle'] {
  const { cache, requests, routing, isSkipAllowed, isListening } = deps;

  /** Runs a request that may change rows, and waits until every process has forgotten the answers that it changed. */
  async function runWrite(next: () => Promise<void>): Promise<void> {
    try {
      await next();
    } finally {
      await deps.waitForConfirmation();
    }
  }

  return async (ctx, next) => {
    const kind = requestKindOf(ctx, isSkipAllowed);
    if (kind === 'other') return next();
    let body = '';
    if (kind === 'write') {
      if (ctx.method !== 'POST' || !isGraphqlPath(ctx.path)) return runWrite(next);
      const document = await routing.readBody(ctx);
      if (!isQueryDocument(document)) return runWrite(next);
      if (isSkipAllowed && isNoStore(ctx.get('Cache-Control'))) return next();
      body = JSON.stringify(document);
    }
    if (!isListening()) return next();
    const { caller } = ctx.state as RequestState;
    return cache.answer(ctx, await requests.create(ctx, caller, body), next);
  };
}
