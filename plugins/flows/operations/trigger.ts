import { fail, type Log } from '#kernel';
import type { FlowOperationKind } from '../contract.ts';
import type { FlowPlans } from '../plan/flow-plans.ts';
import type { FlowRunner } from '../run/flow-runner.ts';
import { returnValueOf } from '../run/return-value.ts';
import type { StepContext } from '../run/step-context.ts';
import { RunSuspension } from '../state/run-break.ts';
import { parseJsonOption } from './option-values.ts';

interface Deps {
  readonly plans: Pick<FlowPlans, 'current'>;
  readonly runner: () => FlowRunner;
  readonly log: Log;
}

/** Runs of one operation that go on at the same time. */
const MAX_PARALLEL = 50;
const MAX_RUNS = 10_000;

/** `trigger`: runs another flow whose trigger is `operation`, once for each element of a list (conventions, "Operation types"). */
export const createTriggerOperation = ({ plans, runner, log }: Deps): FlowOperationKind => ({
  id: 'trigger',
  trial: 'run',
  async run(options, context: StepContext) {
    const plan = (await plans.current()).get(String(options.flow ?? ''));
    if (plan?.trigger !== 'operation') {
      log.warn(
        { flow: options.flow, from: context.flow?.id },
        'a flow calls a flow that is missing, inactive or has another trigger',
      );
      return null;
    }
    const payload = parsePayload(options.payload);
    const { caller } = context;
    const runOne = async (trigger: unknown, element: number) =>
      returnValueOf(await runner().run(plan, { trigger, caller, ...context.nested(element) }), plan.options.return);
    if (!Array.isArray(payload)) return runOne(payload, 0);
    if (payload.length > MAX_RUNS) throw fail('INVALID_PAYLOAD', `a list of at most ${MAX_RUNS} elements is possible`);
    const size = batchSizeOf(options);
    const results: unknown[] = [];
    for (let at = 0; at < payload.length; at += size)
      results.push(...(await valuesOf(payload.slice(at, at + size).map((one, index) => runOne(one, at + index)))));
    return results;
  },
});

/** The values of all, once all have ended. A failure counts more than a suspension, and of suspensions the one that ends first. */
async function valuesOf(runs: readonly Promise<unknown>[]): Promise<readonly unknown[]> {
  const settled = await Promise.allSettled(runs);
  const reasons = settled.flatMap((one): readonly unknown[] => (one.status === 'rejected' ? [one.reason] : []));
  const suspensions = reasons.filter((reason) => reason instanceof RunSuspension);
  if (reasons.length > suspensions.length) throw reasons.find((reason) => !(reason instanceof RunSuspension));
  const [first] = suspensions.toSorted((a, b) => a.until.getTime() - b.until.getTime());
  if (first) throw first;
  return settled.map((one) => (one.status === 'fulfilled' ? one.value : null));
}

/** A text that is no JSON is the payload itself. */
function parsePayload(payload: unknown): unknown {
  try {
    return parseJsonOption(payload, 'payload') ?? null;
  } catch {
    return payload;
  }
}

function batchSizeOf({ iterationMode = 'parallel', batchSize = 10 }: Readonly<Record<string, unknown>>): number {
  if (iterationMode === 'serial') return 1;
  if (iterationMode === 'parallel') return MAX_PARALLEL;
  const size = Number(batchSize);
  if (iterationMode !== 'batch' || !Number.isInteger(size) || size < 1)
    throw fail('INVALID_PAYLOAD', '"iterationMode" must be parallel, serial or batch, and "batchSize" a number from 1');
  return Math.min(size, MAX_PARALLEL);
}
