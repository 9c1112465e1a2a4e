import { fail } from '#kernel';
import type { OutboundResponse, OutboundService } from '../../outbound/contract.ts';
import type { FlowOperationKind } from '../contract.ts';
import type { Deliveries } from '../delivery/deliveries.ts';
import { signatureHeadersOf } from '../delivery/webhook-signature.ts';
import type { StepContext } from '../run/step-context.ts';
import { parseRequestOptions } from './request-options.ts';

/** Bounds of one request. */
export interface RequestLimits {
  /** Milliseconds for one exchange. */
  readonly timeout: number;
  /** Bytes of the longest accepted answer. */
  readonly maxBytes: number;
}

/** The answer to a request as data of the run. */
interface RequestResult {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: unknown;
}

function toResult({ status, headers, body }: OutboundResponse, statusText: string): RequestResult {
  const text = Buffer.from(body).toString('utf8');
  let data: unknown = text;
  try {
    data = JSON.parse(text);
  } catch {
    // What is no JSON stays a text, whatever the answer calls it.
  }
  return { status, statusText, headers, data: text === '' ? null : data };
}

interface Deps extends RequestLimits {
  readonly outbound: Pick<OutboundService, 'send'>;
  readonly deliveries: Pick<Deliveries, 'add'>;
}

/**
 * `request`: one HTTP request to a public address; redirects are not followed. Resolves with the answer, and rejects with it where its status is 400
 * or more. A request that may change something has an `Idempotency-Key`, equal where a job runs the flow again; one with `secret` is signed
 * by Standard Webhooks. With `delivery` `after-commit` a job sends it after the commit, and the operation gives the id of that job.
 */
export const createRequestOperation = ({ outbound, deliveries, timeout, maxBytes }: Deps): FlowOperationKind => ({
  id: 'request',
  secretOptions: ['secret'],
  secretHeaders: 'headers',
  isAtomic: isDeliveredAfterCommit,
  async run(options, { flow, policy, signal }: StepContext) {
    const key = flow && `${flow.run}-${flow.step}`.replace(/[^\x20-\x7e]/g, '_');
    const message = parseRequestOptions(options, key);
    if (isDeliveredAfterCommit(options) && flow) return { delivery: await deliveries.add(message, flow, policy) };
    const answer = await outbound.send({
      owner: '@tenon/flows',
      method: message.method,
      url: new URL(message.url),
      headers: { ...message.headers, ...signatureHeadersOf(message, key ?? '') },
      ...(message.body === undefined ? {} : { body: message.body }),
      timeout,
      maxBytes,
      signal,
    });
    // An import at the start would load the client behind `fetch`.
    const { STATUS_CODES } = await import('node:http');
    const result = toResult(answer, STATUS_CODES[answer.status] ?? '');
    if (answer.status >= 400) throw result;
    return result;
  },
});

/** @throws INVALID_PAYLOAD for another delivery than `after-commit`. */
function isDeliveredAfterCommit({ delivery }: Readonly<Record<string, unknown>>): boolean {
  if (delivery === undefined || delivery === null || delivery === '') return false;
  if (delivery !== 'after-commit') throw fail('INVALID_PAYLOAD', '"delivery" must be after-commit, or left out');
  return true;
}
