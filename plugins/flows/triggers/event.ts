import { type EventMeta, type EventsApi, Failure, Failures, isSystem, type Log } from '#kernel';
import { CustomFailure } from '../../http/library.ts';
import type { EventSubscription, FlowPlan } from '../plan/flow-plan.ts';
import type { FlowPlans } from '../plan/flow-plans.ts';
import type { CallersWithoutListeners } from '../run/callers-without-listeners.ts';
import type { FlowRunner } from '../run/flow-runner.ts';
import { returnValueOf } from '../run/return-value.ts';
import type { BackgroundRuns } from './background-runs.ts';

interface Deps {
  readonly events: Pick<EventsApi, 'onFilter' | 'onAction'>;
  readonly plans: FlowPlans;
  readonly runner: FlowRunner;
  readonly backgroundRuns: Pick<BackgroundRuns, 'runAfterEvent'>;
  readonly withoutListeners: Pick<CallersWithoutListeners, 'has'>;
  readonly log: Log;
}

type EventKind = EventSubscription['kind'];

/** The flows that listen to an event, by its name. */
type ListenersByName = Readonly<Record<EventKind, ReadonlyMap<string, readonly FlowPlan[]>>>;

function groupByEvent(plans: ReadonlyMap<string, FlowPlan>): ListenersByName {
  const byName = { filter: new Map<string, FlowPlan[]>(), action: new Map<string, FlowPlan[]>() };
  for (const plan of plans.values())
    for (const name of plan.listensTo?.names ?? []) {
      const known = byName[(plan.listensTo as EventSubscription).kind];
      known.set(name, [...(known.get(name) ?? []), plan]);
    }
  return byName;
}

/** Runs flows with the trigger `event`. Where no flow listens, nothing does, so that such an event costs nothing. */
export function startEventTriggers({ events, plans, runner, backgroundRuns, withoutListeners, log }: Deps): void {
  let subscriptions: (() => void)[] = [];

  // Kept as long as the flows that were read: an event costs a lookup of its name.
  const grouped = new WeakMap<ReadonlyMap<string, FlowPlan>, ListenersByName>();
  function listenersOf(current: ReadonlyMap<string, FlowPlan>): ListenersByName {
    const known = grouped.get(current) ?? groupByEvent(current);
    grouped.set(current, known);
    return known;
  }
  const matching = async (kind: EventKind, event: string): Promise<readonly FlowPlan[]> =>
    listenersOf(await plans.current())[kind].get(event) ?? [];

  async function filter(payload: unknown, meta: EventMeta): Promise<unknown> {
    if (withoutListeners.has(meta.caller)) return undefined;
    let current = payload;
    for (const plan of await matching('filter', meta.event)) {
      const outcome = await runner.run(plan, {
        trigger: { payload: current, ...describeEvent(meta) },
        caller: isSystem(meta.caller) ? null : meta.caller,
        isPartOfWrite: true,
      });
      if (outcome.status === 'reject') throw toThrown(outcome.error, outcome.data.$last);
      if (plan.options.return === undefined || plan.options.return === null || plan.options.return === '') continue;
      current = returnValueOf(outcome, plan.options.return) ?? current;
    }
    return current === payload ? undefined : current;
  }

  async function act(meta: EventMeta): Promise<void> {
    if (withoutListeners.has(meta.caller)) return;
    for (const plan of await matching('action', meta.event)) {
      const caller = isSystem(meta.caller) ? null : meta.caller;
      await backgroundRuns
        .runAfterEvent(plan, caller, describeEvent(meta))
        .catch((error) => log.warn({ err: error, flow: plan.id, event: meta.event }, 'a flow could not run'));
    }
  }

  function listen(names: Readonly<Record<EventKind, ReadonlySet<string>>>): void {
    const before = subscriptions;
    subscriptions = [
      ...[...names.filter].map((name) => events.onFilter(name, filter)),
      ...[...names.action].map((name) => events.onAction(name, act)),
    ];
    for (const stop of before) stop();
  }

  plans.onChange((current) => {
    // Until changed flows are read again, an event of any name may be one that a flow listens to.
    if (!current) return listen({ filter: new Set(['**']), action: new Set(['**']) });
    const { filter: filters, action: actions } = listenersOf(current);
    listen({ filter: new Set(filters.keys()), action: new Set(actions.keys()) });
  });
}

/** The members of an event as data: without the caller, and without what is no data, such as a server. */
function describeEvent({ caller: _caller, ...meta }: EventMeta): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(meta).flatMap(([key, value]) => {
      if (typeof value === 'string' || value === null) return [[key, value]];
      try {
        const text = isPlain(value) ? JSON.stringify(value) : undefined;
        return text === undefined ? [] : [[key, JSON.parse(text)]];
      } catch {
        return [];
      }
    }),
  );
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || value instanceof Date;
}

/** The error that cancels the write: the one that the last operation threw, or its value as an error. */
function toThrown(error: unknown, value: unknown): unknown {
  if (error instanceof Failure || error instanceof Failures) return error;
  const { message, code, status } = Object(value) as Readonly<Record<string, unknown>>;
  return new CustomFailure('INVALID_PAYLOAD', {
    message: typeof message === 'string' ? message : 'A flow has refused the change.',
    code: typeof code === 'string' ? code : 'INVALID_PAYLOAD',
    status: typeof status === 'number' && status >= 400 && status <= 599 ? status : 400,
  });
}
