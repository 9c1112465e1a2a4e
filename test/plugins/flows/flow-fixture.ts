import { expect } from 'chai';
import type { SendAsUser } from '../users/test-users.ts';

/** One operation of a chain. It follows the one before it where that resolves, or, with `after: 'reject'`, where that fails. */
export interface TestStep {
  readonly key: string;
  readonly type: string;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly after?: 'resolve' | 'reject';
}

export interface TestFlow {
  readonly trigger: string;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly accountability?: string | null;
  readonly status?: string;
  readonly steps: readonly TestStep[];
}

/** Creates a flow with its chain over the API, as an editor does. Returns its id. */
export async function createTestFlow(admin: SendAsUser, { steps, ...flow }: TestFlow): Promise<string> {
  const created = await admin('POST', '/flows', { name: `a flow by ${flow.trigger}`, ...flow });
  expect(created.status, JSON.stringify(created.body)).to.equal(200);
  const id: string = created.body.data.id;
  let next: { readonly id: string; readonly after: string } | undefined;
  for (const { after = 'resolve', ...step } of steps.toReversed()) {
    const body = { flow: id, ...step, ...(next ? { [next.after]: next.id } : {}) };
    const operation = await admin('POST', '/operations', body);
    expect(operation.status, JSON.stringify(operation.body)).to.equal(200);
    next = { id: operation.body.data.id, after };
  }
  if (next) expect((await admin('PATCH', `/flows/${id}`, { operation: next.id })).status).to.equal(200);
  return id;
}

/** A webhook flow that runs these steps, answered by `return` (`$last` by default). */
export const createWebhook = (
  admin: SendAsUser,
  steps: readonly TestStep[],
  options: Readonly<Record<string, unknown>> = {},
): Promise<string> => createTestFlow(admin, { trigger: 'webhook', options: { method: 'POST', ...options }, steps });
