import { fail } from '#kernel';
import type { HttpContext } from '../../http/contract.ts';
import { bodyOf, parsedQueryStringOf } from '../../http/library.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';

/** What the chain of a webhook flow, or of a manual one, receives as `$trigger` (specification, "Trigger rules", 1). */
export interface HttpTrigger {
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly method: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

export function toHttpTrigger(ctx: HttpContext): HttpTrigger {
  return {
    path: ctx.path.replace(/^\/flows(?=\/)/, ''),
    query: parsedQueryStringOf(ctx),
    body: bodyOf(ctx) ?? {},
    method: ctx.method,
    headers: { ...ctx.req.headers },
  };
}

/** @throws FORBIDDEN for another method than that of the flow. */
export function assertWebhookMethod({ options }: FlowPlan, method: string): void {
  const expected = options.method === 'POST' ? 'POST' : 'GET';
  if (method !== expected) throw fail('FORBIDDEN', `the flow is triggered by ${expected}`);
}
