import type { Middleware } from '#kernel';

/** The Koa context of a request, as layers get it. */
export type RequestContext = Parameters<Middleware['handle']>[0];
