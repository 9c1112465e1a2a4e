import type { FlowOperationRegistry } from '../contract.ts';
import { missingSecretsOf } from '../secrets/secret-options.ts';
import type { FlowPlan, OperationPlan } from './flow-plan.ts';

/** Why a flow cannot begin, or where its runs end in a failure. */
export interface FlowProblem {
  /** The key of the operation; null for the trigger. */
  readonly step: string | null;
  readonly message: string;
}

interface Deps {
  readonly operations: () => FlowOperationRegistry;
  readonly isCronExpression: (text: string) => boolean;
}

export type FindFlowProblems = (plan: FlowPlan) => readonly FlowProblem[];

/** What is wrong with a flow as it is stored, which nothing checks when it is written (specification, "Operation record"). */
export const createFindFlowProblems =
  ({ operations, isCronExpression }: Deps): FindFlowProblems =>
  (plan) => [...triggerProblemsOf(plan, isCronExpression), ...chainProblemsOf(plan, operations())];

function triggerProblemsOf(
  { trigger, options, listensTo }: FlowPlan,
  isCronExpression: (text: string) => boolean,
): readonly FlowProblem[] {
  const problem = (message: string): readonly FlowProblem[] => [{ step: null, message }];
  if (trigger === 'schedule' && !(typeof options.cron === 'string' && isCronExpression(options.cron)))
    return problem(`${JSON.stringify(options.cron ?? null)} is no cron expression: the flow has no schedule`);
  if (trigger === 'event' && !listensTo)
    return problem('"type" is neither filter nor action: the flow listens to nothing');
  if (trigger === 'event' && listensTo?.names.length === 0)
    return problem('"scope" and "collections" name no event: the flow listens to nothing');
  if (trigger === 'manual' && !(Array.isArray(options.collections) && options.collections.length > 0))
    return problem('"collections" is empty: the flow cannot be triggered');
  return [];
}

/** Problems of all operations that the chain leads to. */
function chainProblemsOf(plan: FlowPlan, operations: FlowOperationRegistry): readonly FlowProblem[] {
  if (plan.first === null) return [];
  const first = plan.operations.get(plan.first);
  if (!first) return [{ step: null, message: `the flow begins with ${plan.first}, which is no operation of the flow` }];
  const problems: FlowProblem[] = [];
  const seen = new Set([first]);
  /** The operations from the first one to that at hand, each with the branches that are still to be followed. */
  const path = [{ operation: first, branches: [...BRANCHES] }];
  const onPath = new Set([first]);
  for (let at = path.at(-1); at; at = path.at(-1)) {
    const { operation } = at;
    const branch = at.branches.shift();
    if (!branch) {
      onPath.delete(operation);
      path.pop();
      continue;
    }
    const id = operation[branch];
    const next = id === null ? undefined : plan.operations.get(id);
    const add = (message: string) => void problems.push({ step: operation.key, message });
    if (id !== null && !next) add(`"${branch}" leads to ${id}, which is no operation of the flow`);
    if (next && onPath.has(next)) add(`"${branch}" leads back to "${next.key}"`);
    if (!next || seen.has(next)) continue;
    seen.add(next);
    onPath.add(next);
    path.push({ operation: next, branches: [...BRANCHES] });
  }
  return [...problems, ...[...seen].flatMap((operation) => operationProblemsOf(operation, operations))];
}

const BRANCHES = ['resolve', 'reject'] as const;

function operationProblemsOf(
  { key, type, options }: OperationPlan,
  operations: FlowOperationRegistry,
): readonly FlowProblem[] {
  const kind = operations.find(type);
  if (kind === undefined) return [{ step: key, message: `no plugin has the operation "${type}"` }];
  if (kind === 'ambiguous') return [{ step: key, message: `several plugins have the operation "${type}"` }];
  return missingSecretsOf(kind, options).map((path) => ({
    step: key,
    message: `the secret option "${path}" has no stored value: enter it again`,
  }));
}
