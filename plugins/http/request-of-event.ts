import type { HttpContext } from './contract.ts';

const contexts = new WeakMap<object, HttpContext>();

/**
 * The request of an event, for listeners. As JSON, which is all that confined code receives, it has method and path: headers, cookies and
 * query strings may hold the tokens of callers.
 */
export class RequestOfEvent {
  readonly method: string;
  readonly path: string;

  constructor(ctx: HttpContext) {
    this.method = ctx.method;
    this.path = ctx.path;
    contexts.set(this, ctx);
  }
}

/** The response of an event, for listeners; as JSON without headers and body. */
export class ResponseOfEvent {
  readonly status: number;

  constructor(ctx: HttpContext) {
    this.status = ctx.res.statusCode;
    contexts.set(this, ctx);
  }
}

/** The context of a request or response of an event, for code that may see all of it; undefined for other values. */
export const contextOfEvent = (value: unknown): HttpContext | undefined =>
  typeof value === 'object' && value !== null ? contexts.get(value) : undefined;
