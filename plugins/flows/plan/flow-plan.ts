import { restoreSecretOptions } from '../secrets/secret-options.ts';
import { eventNamesOf } from './event-names.ts';

/** How a flow begins (specification, "Flow record"). */
export const FLOW_TRIGGERS = ['event', 'schedule', 'webhook', 'manual', 'operation'] as const;
export type FlowTrigger = (typeof FLOW_TRIGGERS)[number];

/** What is recorded of a run: activity and revision, activity, or nothing. */
export type FlowAccountability = 'all' | 'activity' | null;

/** One operation of a flow, as it is stored. */
export interface OperationPlan {
  readonly id: string;
  readonly key: string;
  readonly name: string | null;
  readonly type: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** The values of secret options, also where no plugin says at the moment which options these are. */
  readonly secretValues?: readonly unknown[];
  /** The id of the operation that follows a success; null ends the run. */
  readonly resolve: string | null;
  /** The id of the operation that follows a failure; null ends the run. */
  readonly reject: string | null;
}

/** An active flow, ready to run. Its chain is followed at run time: operations that nothing leads to never run. */
export interface FlowPlan {
  readonly id: string;
  readonly name: string;
  readonly trigger: FlowTrigger;
  readonly accountability: FlowAccountability;
  readonly options: Readonly<Record<string, unknown>>;
  /** The id of the first operation; null where the flow has none. */
  readonly first: string | null;
  readonly operations: ReadonlyMap<string, OperationPlan>;
  /** The events that the flow listens to; undefined where its trigger is none, or its options name neither kind. */
  readonly listensTo?: EventSubscription | undefined;
}

/** What a flow with the trigger `event` listens to. */
export interface EventSubscription {
  readonly kind: 'filter' | 'action';
  readonly names: readonly string[];
}

/** A row of the statement that reads the active flows: a flow with its operations as JSON. */
export interface ActiveFlowRow {
  readonly id: string;
  readonly name: string;
  readonly trigger: string | null;
  readonly accountability: string | null;
  readonly options: unknown;
  readonly operation: string | null;
  readonly operations: readonly OperationRow[];
}

type OperationRow = Omit<OperationPlan, 'options' | 'secretValues'> & {
  readonly options: unknown;
  /** Stored secrets by their path in the options. */
  readonly secrets: Readonly<Record<string, string>> | null;
};

/** Decrypts a secret option; undefined where that is not possible. */
export type OpenOperationSecret = (operation: string, path: string, stored: string) => unknown;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const optionsOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {});

/** The plan of a stored flow; undefined where its trigger is none of the specification's. */
export function buildFlowPlan(row: ActiveFlowRow, openSecret: OpenOperationSecret): FlowPlan | undefined {
  const trigger = FLOW_TRIGGERS.find((one) => one === row.trigger);
  if (!trigger) return undefined;
  const { id, name, operation, accountability } = row;
  const options = optionsOf(row.options);
  return {
    id,
    name,
    trigger,
    accountability: accountability === 'all' || accountability === 'activity' ? accountability : null,
    options,
    first: operation,
    operations: new Map(row.operations.map((one) => [one.id, buildOperationPlan(one, openSecret)])),
    listensTo: trigger === 'event' ? eventSubscriptionOf(options) : undefined,
  };
}

function buildOperationPlan({ secrets, ...row }: OperationRow, openSecret: OpenOperationSecret): OperationPlan {
  const options = optionsOf(row.options);
  if (!secrets) return { ...row, options };
  const opened = Object.entries(secrets).flatMap(([path, stored]): [string, unknown][] => {
    const value = openSecret(row.id, path, stored);
    return value === undefined ? [] : [[path, value]];
  });
  return {
    ...row,
    options: restoreSecretOptions(options, new Map(opened)),
    secretValues: opened.map(([, value]) => value),
  };
}

function eventSubscriptionOf(options: Readonly<Record<string, unknown>>): EventSubscription | undefined {
  const kind = options.type;
  return kind === 'filter' || kind === 'action' ? { kind, names: eventNamesOf(options) } : undefined;
}
