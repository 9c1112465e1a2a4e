import type { Context } from 'koa';
import { ERRORS, type ErrorCode, type EventsApi, errorEnvelope, Failure, Failures, type Log } from '#kernel';
import type { HttpContext } from './contract.ts';
import { CustomFailure } from './custom-failure.ts';
import { RequestOfEvent, ResponseOfEvent } from './request-of-event.ts';

interface Deps {
  readonly events: Pick<EventsApi, 'hasListeners' | 'filter'>;
  readonly log: Pick<Log, 'warn'>;
}

/** Returns the error to send; undefined when a listener has answered the request. */
export type RunErrorFilters = (ctx: Context, error: unknown) => Promise<unknown>;

/**
 * Runs the filters `request.not_found` and `request.error`. A listener of the first may answer a request that no route
 * answers, and then returns `true`. A listener of the second may change the list of errors before it is sent; the
 * status stays. When it fails, the original error is sent.
 */
export function createRequestErrorFilterRunner({ events, log }: Deps): RunErrorFilters {
  async function runNotFoundFilter(ctx: Context, error: unknown): Promise<unknown> {
    // Only errors with `path`: a request for a missing collection has a route and answers the same code without it.
    const isMissing = error instanceof Failure && error.code === 'ROUTE_NOT_FOUND' && 'path' in error.extensions;
    if (!isMissing || !events.hasListeners('filter', 'request.not_found')) return error;
    const { caller } = (ctx as unknown as HttpContext).state;
    try {
      const isHandled = await events.filter(['request.not_found'], false as boolean, {
        caller,
        request: new RequestOfEvent(ctx as unknown as HttpContext),
        response: new ResponseOfEvent(ctx as unknown as HttpContext),
      });
      return isHandled === true ? undefined : error;
    } catch (failure) {
      return failure;
    }
  }

  return async (ctx, error) => {
    const failure = await runNotFoundFilter(ctx, error);
    if (failure === undefined || !events.hasListeners('filter', 'request.error') || ctx.res.closed) return failure;
    const { caller } = (ctx as unknown as HttpContext).state;
    const { status, body } = errorEnvelope(failure, caller);
    try {
      const filtered: unknown = await events.filter(['request.error'], body.errors as unknown, { caller });
      return filtered === body.errors ? failure : toFailure(filtered, status, failure);
    } catch (filterError) {
      log.warn({ err: filterError }, 'a filter of request.error failed: the original error is sent');
      return failure;
    }
  };
}

/** The list of errors that a listener returned, as one failure. @throws TypeError for anything but such a list. */
function toFailure(list: unknown, status: number, cause: unknown): unknown {
  if (!Array.isArray(list) || list.length === 0) throw new TypeError('request.error must answer a list of errors');
  const all = list.map((entry) => toCustomFailure(entry, status));
  const failure = all.length === 1 ? all[0] : new Failures(all);
  return Object.assign(failure as Error, { cause });
}

/** An error that a listener answered. @throws TypeError for anything but an error with message and code */
export function toCustomFailure(entry: unknown, status: number): CustomFailure {
  const { message, extensions = {} } = (entry ?? {}) as { message?: unknown; extensions?: Record<string, unknown> };
  const { code, ...more } = extensions;
  if (typeof message !== 'string' || typeof code !== 'string')
    throw new TypeError('an error that a listener answers has a message and extensions.code');
  const nearest = Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'INTERNAL_SERVER_ERROR';
  return new CustomFailure(nearest, { status, code, message, extensions: more });
}
