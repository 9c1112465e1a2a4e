import type { HttpContext } from '../http/contract.ts';
import { GuestFailure } from '../sandbox/library.ts';
import type { ExchangeValidator } from './exchange-validator.ts';

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Sends a handler's result `{ status?, body? }` (conventions, "Endpoint input and output"): the body as JSON, without
 * headers of the handler.
 * @throws GuestFailure `invalid-result` for any other result, one against the declared schema, and for a status below 200, after which clients would
 * wait for a second one.
 */
export function sendHandlerResult(ctx: HttpContext, value: unknown, validate?: ExchangeValidator): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new GuestFailure('invalid-result', { thrown: INVALID_RESULT });
  const { status = 200, body = null, ...others } = value as Record<string, unknown>;
  if (Object.keys(others).length > 0 || !isStatus(status))
    throw new GuestFailure('invalid-result', { thrown: INVALID_RESULT });
  const mismatch = validate?.({ status, body });
  if (mismatch) throw new GuestFailure('invalid-result', { thrown: { message: mismatch.message } });
  ctx.status = status;
  if (WITHOUT_BODY.has(status)) {
    ctx.body = null;
    ctx.status = status;
    return;
  }
  ctx.type = 'application/json; charset=utf-8';
  ctx.body = JSON.stringify(body);
}

const INVALID_RESULT = {
  message: 'A handler answers { status?, body? } and nothing else, with a status from 200 to 599.',
};

const isStatus = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 200 && (value as number) <= 599;
