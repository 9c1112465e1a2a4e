import { fail, requestScope } from '#kernel';
import type { Db } from '../../database/contract.ts';
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
import type { ActiveFlowRow } from '../plan/flow-plan.ts';
import { buildFlowPlan } from '../plan/flow-plan.ts';
import type { FlowRunner } from '../run/flow-runner.ts';
import { returnValueOf } from '../run/return-value.ts';
import { runInTrial, Trial } from '../run/trial.ts';

interface Deps {
  readonly db: Db;
  readonly runner: FlowRunner;
  /** Reads a flow as the plans do, also an inactive one. */
  readonly readFlow: (id: string) => Promise<ActiveFlowRow | undefined>;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Ends the unit of work of a trial with a rollback. */
class EndOfTrial extends Error {}

/**
 * `POST /flows/<id>/try`: runs the chain for an admin with the `trigger` of the body, in a transaction that is rolled back. Answers what each
 * operation gave, the rows that would have changed, and the effects that were held. An inactive flow can be tried, too.
 */
export function tryRoute({ db, runner, readFlow }: Deps): Route {
  const CHANGES = db.sql`select a.action, a.collection, a.item, r.data, r.delta from ${db.read('platform_activity')} a
    left join ${db.read('platform_revisions')} r on r.activity = a.id where a.invocation = $1 order by a.id`;

  async function handle(ctx: HttpContext): Promise<void> {
    const { caller } = ctx.state;
    if (!caller.admin) throw fail('FORBIDDEN', 'flows are tried by admins');
    const id = ctx.params.id as string;
    const row = UUID.test(id) ? await readFlow(id) : undefined;
    const plan = row && buildFlowPlan(row);
    if (!plan) throw fail('FORBIDDEN', 'no flow has this id, or it has no trigger');
    const body = bodyOf(ctx) ?? {};
    if (!isObject(body)) throw fail('INVALID_PAYLOAD', 'the body must be an object with "trigger"');

    const trial = new Trial();
    let answer: unknown;
    await db
      .transaction(async () => {
        const request = { trigger: body.trigger ?? null, caller };
        const outcome = await runInTrial(trial, () => runner.run(plan, request));
        const { rows } = await db.query(CHANGES, [requestScope.getStore()?.invocation ?? '']);
        const { secrets, data, steps, status } = outcome;
        answer = {
          status,
          steps: steps.map((step) => ({ ...step, result: secrets.redact(data[step.key]) })),
          return: secrets.redact(returnValueOf(outcome, plan.options.return)),
          changes: secrets.redact(rows),
          effects: secrets.redact(trial.effects),
        };
        throw new EndOfTrial();
      })
      .catch((error) => {
        if (!(error instanceof EndOfTrial)) throw error;
      });
    sendData(ctx, answer);
  }

  return {
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
    handle,
  };
}
