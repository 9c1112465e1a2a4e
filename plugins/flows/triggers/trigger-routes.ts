import { Failure, Failures, fail } from '#kernel';
import { isUuid } from '../../database/library.ts';
import type { HttpContext, Route } from '../../http/contract.ts';
import { CustomFailure } from '../../http/library.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import { currentAnswerSources } from '../../items/library.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { FlowPlans } from '../plan/flow-plans.ts';
import type { FlowRunner } from '../run/flow-runner.ts';
import { returnValueOf } from '../run/return-value.ts';
import type { RunOutcome } from '../run/run-chain.ts';
import type { AsyncRuns } from './async-runs.ts';
import { assertManualTrigger } from './manual.ts';
import { TRIGGER_BY_GET_DESCRIPTION, TRIGGER_BY_POST_DESCRIPTION } from './trigger-route-descriptions.ts';
import { assertWebhookMethod, toHttpTrigger } from './webhook.ts';

interface Deps {
  readonly items: Pick<ItemsEngine, 'readKeys' | 'checkQuery'>;
  readonly plans: Pick<FlowPlans, 'current'>;
  readonly runner: FlowRunner;
  readonly asyncRuns: Pick<AsyncRuns, 'addForClient'>;
  /** The tables of flows, quoted names with their schema. */
  readonly tables: readonly string[];
}

/** `GET` and `POST /flows/trigger/<id>`: webhook and manual flows (specification, "Flow and operation endpoints"). */
export function triggerRoutes({ items, plans, runner, asyncRuns, tables }: Deps): readonly Route[] {
  async function handle(ctx: HttpContext): Promise<void> {
    const { caller } = ctx.state;
    const id = ctx.params.id as string;
    if (!isUuid(id)) throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
    const plan = (await plans.current()).get(id);
    if (plan?.trigger !== 'webhook' && plan?.trigger !== 'manual')
      throw fail('FORBIDDEN', 'no active webhook or manual flow has this id');
    const trigger = toHttpTrigger(ctx);
    if (plan.trigger === 'webhook') assertWebhookMethod(plan, ctx.method);
    else await assertManualTrigger(items, caller, plan, ctx.method, trigger.body);

    ctx.set('Cache-Control', 'no-store');
    if (plan.options.async === true) {
      await asyncRuns.addForClient(plan, caller, trigger);
      ctx.status = 204;
      return;
    }
    const outcome = await runner.run(plan, { trigger, caller });
    if (outcome.status === 'reject' && plan.options.error_on_reject === true) throw toHttpError(outcome);
    const isKept = plan.trigger === 'webhook' && ctx.method === 'GET' && plan.options.cacheEnabled !== false;
    if (isKept && outcome.status === 'resolve') currentAnswerSources()?.keepUntilExpired(tables);
    answer(ctx, plan, outcome);
  }

  return [
    // The chain receives all headers, and the address of the caller.
    {
      method: 'GET',
      path: '/flows/trigger/:id',
      dependsOnHeaders: true,
      description: TRIGGER_BY_GET_DESCRIPTION,
      handle,
    },
    { method: 'POST', path: '/flows/trigger/:id', description: TRIGGER_BY_POST_DESCRIPTION, handle },
  ];
}

/** Answers the value itself, without an envelope; 204 for nothing. */
function answer(ctx: HttpContext, plan: FlowPlan, outcome: RunOutcome): void {
  const value = returnValueOf(outcome, plan.trigger === 'webhook' ? plan.options.return : '$last');
  if (value === null || value === undefined || value === '') {
    ctx.status = 204;
    return;
  }
  ctx.status = 200;
  ctx.type = 'application/json';
  ctx.body = JSON.stringify(value);
}

/** The error of the last operation with its own status and code, 500 where it has none. */
function toHttpError({ error, data }: RunOutcome): unknown {
  if (error instanceof Failure || error instanceof Failures) return error;
  const { message, code, status } = Object(data.$last) as Readonly<Record<string, unknown>>;
  const isStatus = typeof status === 'number' && status >= 400 && status <= 599;
  return new CustomFailure('INTERNAL_SERVER_ERROR', {
    message: typeof message === 'string' && isStatus ? message : 'The flow failed.',
    code: typeof code === 'string' ? code : 'INTERNAL_SERVER_ERROR',
    status: isStatus ? status : 500,
  });
}
