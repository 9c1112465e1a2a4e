import { fail } from '#kernel';
import { isUuid } from '../../database/library.ts';
import type { HttpContext, Route } from '../../http/contract.ts';
import {
  bodyOf,
  describeDataAnswer,
  describeJsonBody,
  describeParameter,
  objectSchema,
  RECORD_SCHEMA,
  sendData,
} from '../../http/library.ts';
import type { FlowPlans } from '../plan/flow-plans.ts';
import type { TryFlow } from '../run/trial-report.ts';

interface Deps {
  readonly plans: Pick<FlowPlans, 'readStored'>;
  readonly tryFlow: TryFlow;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * `POST /flows/<id>/try`: runs the chain for an admin with the `trigger` of the body, in a transaction that is rolled back. Answers what each
 * operation gave, the rows that would have changed, and the effects that were held. An inactive flow can be tried, too.
 */
export const tryRoute = ({ plans, tryFlow }: Deps): Route => ({
  method: 'POST',
  path: '/flows/:id/try',
  description: {
    tag: 'flows',
    access: 'admin',
    summary: 'Runs a flow without any effect, and answers what would have happened.',
    params: { id: describeParameter('Id of the flow.') },
    body: { ...describeJsonBody(objectSchema({ trigger: {} })), required: false },
    answers: describeDataAnswer(RECORD_SCHEMA),
  },
  async handle(ctx: HttpContext): Promise<void> {
    const { caller } = ctx.state;
    if (!caller.admin) throw fail('FORBIDDEN', 'flows are tried by admins');
    const id = ctx.params.id as string;
    const plan = isUuid(id) ? await plans.readStored(id) : undefined;
    if (!plan) throw fail('FORBIDDEN', 'no flow has this id, or it has no trigger');
    const body = bodyOf(ctx) ?? {};
    if (!isObject(body)) throw fail('INVALID_PAYLOAD', 'the body must be an object with "trigger"');
    sendData(ctx, await tryFlow(plan, caller, body.trigger ?? null));
  },
});
