import type { Caller, Log } from '#kernel';
import type { Db } from '../../database/contract.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import type { NotificationService } from '../../notifications/contract.ts';
import type { FlowPlan } from '../plan/flow-plan.ts';
import type { FlowPlans } from '../plan/flow-plans.ts';
import type { StoredCount } from './run-counters.ts';

interface Deps {
  readonly db: Db;
  readonly items: Pick<ItemsEngine, 'updateOne' | 'rows'>;
  readonly notifications: NotificationService;
  readonly plans: Pick<FlowPlans, 'current'>;
  readonly systemCaller: () => Caller;
  readonly log: Pick<Log, 'warn'>;
  /** FLOWS_PARK_AFTER_FAILURES. */
  readonly failures: number;
}

/** Parks flows that fail again and again: they become inactive, and admins learn why. */
export interface FlowParking {
  /** After how many failures in a row the flow is parked; 0 for never. */
  limitOf(plan: FlowPlan): number;
  /** Keeps the failure for the notification. */
  noteFailure(flow: string, text: string): void;
  /** Parks those of the flows that have reached their limit. Never rejects. */
  park(stored: readonly StoredCount[]): Promise<void>;
}

const MAX_NOTED = 1000;
const MAX_TEXT_LENGTH = 1000;
const MAX_ADMINS = 100;

/**
 * Creates the parking of flows. Failures of filter flows, and of flows whose caller waits, are answers to clients: such a flow is never parked,
 * since a client could switch it off. Data of clients may also fail an event flow or an asynchronous one; so the setting is for schedules,
 * and the others have to ask for it by the option `parkAfterFailures`.
 */
export function createFlowParking(deps: Deps): FlowParking {
  const { db, items, notifications, plans, systemCaller, log, failures } = deps;
  const CLAIM = db.sql`update ${db.own('platform_flow_counters')} c set failures_in_row = 0 from ${db.read('platform_flows')} f
    where c.flow = $1 and f.id = c.flow and f.status = 'active' and c.failures_in_row >= $2 returning f.name`;
  const lastFailures = new Map<string, string>();

  function limitOf({ trigger, options }: FlowPlan): number {
    const isAnswered = (trigger === 'webhook' || trigger === 'manual') && options.async !== true;
    if (trigger === 'operation' || isAnswered || (trigger === 'event' && options.type !== 'action')) return 0;
    const { parkAfterFailures: own } = options;
    if (typeof own === 'number' && Number.isInteger(own) && own >= 0) return own;
    return trigger === 'schedule' ? failures : 0;
  }

  /** One process of all claims the flow: the others find no failures in a row any more. */
  const parkOne = (flow: string, limit: number): Promise<void> =>
    db.transaction(async () => {
      const claimed = (await db.query<{ name: string }>(CLAIM, [flow, limit])).rows[0];
      if (!claimed) return;
      await items.updateOne(systemCaller(), 'platform_flows', flow, { status: 'inactive' });
      const admins = await items.rows(systemCaller(), 'platform_users', {
        fields: ['id'],
        filter: { status: { _eq: 'active' }, role: { admin_access: { _eq: true } } },
        limit: MAX_ADMINS,
      });
      const failure = lastFailures.get(flow);
      const message = [
        `The flow "${claimed.name}" failed ${limit} times in a row. Its status is now "inactive", so that it does not run any more.`,
        ...(failure === undefined ? [] : [`Last failure: ${failure}`]),
        `To start it again, set its status to "active", for example by PATCH /flows/${flow} with {"status":"active"}.`,
      ].join('\n\n');
      await notifications.notify(
        null,
        admins.map(({ id }) => ({
          recipient: String(id),
          subject: `A flow was switched off: ${claimed.name}`.slice(0, 255),
          message,
          collection: 'platform_flows',
          item: flow,
        })),
      );
      db.afterCommit(() => log.warn({ flow, failures: limit }, 'a flow failed again and again and is inactive now'));
    });

  return {
    limitOf,
    noteFailure(flow, text) {
      lastFailures.delete(flow);
      lastFailures.set(flow, text.slice(0, MAX_TEXT_LENGTH));
      for (const oldest of lastFailures.keys()) {
        if (lastFailures.size <= MAX_NOTED) break;
        lastFailures.delete(oldest);
      }
    },
    async park(stored) {
      try {
        const current = await plans.current();
        for (const { flow, failures_in_row: inRow } of stored) {
          const plan = current.get(flow);
          const limit = plan ? limitOf(plan) : 0;
          if (limit === 0 || inRow < limit) continue;
          await parkOne(flow, limit);
          lastFailures.delete(flow);
        }
      } catch (error) {
        log.warn(
          { err: error },
          'a flow that fails again and again could not be switched off; its next failure tries it again',
        );
      }
    },
  };
}
