import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log } from '#kernel';
import type { InterProcessBus } from '../../cluster/contract.ts';
import { createChangeNotificationMigration } from '../../cluster/library.ts';
import type { Db, Migration } from '../../database/contract.ts';
import { quoteIdentifier } from '../../database/library.ts';
import { type ActiveFlowRow, buildFlowPlan, type FlowPlan, type OpenOperationSecret } from './flow-plan.ts';

/** The bus channel on which a change of a flow or an operation is announced, by this service or by SQL. */
export const FLOWS_CHANGED_CHANNEL = 'flows.changed';

/** The active flows of the database, in memory until a flow or an operation changes in any process. */
export interface FlowPlans {
  /** The active flows by id, read again where they changed. @throws SERVICE_UNAVAILABLE where the database is not reached. */
  current(): Promise<ReadonlyMap<string, FlowPlan>>;
  /** The active flows as they were read last. */
  known(): Iterable<FlowPlan>;
  /** One flow as it is stored, also an inactive one; undefined where there is none, or its trigger is none of the specification's. */
  readStored(id: string): Promise<FlowPlan | undefined>;
  /** All flows, in the order of their names. */
  readAll(): Promise<readonly StoredFlow[]>;
  /** Marks the flows as changed; the next `current` reads them. */
  forget(): void;
  /** Calls `handle` when flows have changed: with undefined until they are read again, and then with them. */
  onChange(handle: (plans: ReadonlyMap<string, FlowPlan> | undefined) => void): void;
}

/** A flow as lists show it. */
export interface StoredFlow {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly trigger: string | null;
}

interface Deps {
  readonly db: Db;
  readonly bus: Pick<InterProcessBus, 'subscribe' | 'onLost' | 'onReconnect'>;
  readonly openSecret: OpenOperationSecret;
  readonly log: Log;
}

/** Milliseconds before flows that could not be read are tried again. */
const RETRY_DELAY = 1000;

export function createFlowPlans({ db, bus, openSecret, log }: Deps): FlowPlans {
  const FLOWS = db.sql`select f.id, f.name, f.trigger, f.accountability, f.options, f.operation,
      coalesce((select json_agg(json_build_object('id', o.id, 'key', o.key, 'name', o.name, 'type', o.type, 'options', o.options,
        'resolve', o.resolve, 'reject', o.reject, 'secrets', (select json_object_agg(s.path, s.value)
          from ${db.read('platform_operation_secrets')} s where s.operation = o.id)))
      from ${db.read('platform_operations')} o where o.flow = f.id), '[]') as operations
    from ${db.read('platform_flows')} f`;
  const ACTIVE = db.sql`${FLOWS} where f.status = 'active' order by f.date_created, f.id`;
  const ONE = db.sql`${FLOWS} where f.id = $1`;

  // Flows are read outside of the unit of work of the write that asks for them: it may be the one that changes them.
  const outside = AsyncLocalStorage.snapshot();
  let plans: ReadonlyMap<string, FlowPlan> = new Map();
  /** Counts changes: flows whose read began before the last change are not kept. */
  let version = 1;
  let readVersion = 0;
  let reading: Promise<ReadonlyMap<string, FlowPlan>> | undefined;
  let retry: NodeJS.Timeout | undefined;
  const handlers: ((plans: ReadonlyMap<string, FlowPlan> | undefined) => void)[] = [];

  async function read(): Promise<ReadonlyMap<string, FlowPlan>> {
    for (;;) {
      const before = version;
      const { rows } = await db.query<ActiveFlowRow>(ACTIVE, [], { name: 'flows_active' });
      const read = new Map<string, FlowPlan>();
      for (const row of rows) {
        const plan = buildFlowPlan(row, openSecret);
        if (plan) read.set(plan.id, plan);
      }
      if (before !== version) continue;
      plans = read;
      readVersion = before;
      for (const handle of handlers) handle(plans);
      return plans;
    }
  }

  function current(): Promise<ReadonlyMap<string, FlowPlan>> {
    if (readVersion === version) return Promise.resolve(plans);
    reading ??= outside(read).finally(() => {
      reading = undefined;
    });
    return reading;
  }

  function forget(): void {
    version++;
    for (const handle of handlers) handle(undefined);
    refresh();
  }

  /** Event and schedule triggers have no request that would read the flows. */
  function refresh(): void {
    clearTimeout(retry);
    current().catch((error) => {
      log.warn({ reason: (error as Error).message }, 'flows could not be read; the service tries again');
      retry = setTimeout(refresh, RETRY_DELAY);
      retry.unref();
    });
  }

  bus.subscribe(FLOWS_CHANGED_CHANNEL, forget);
  bus.onReconnect(forget);
  const ALL = db.sql`select id, name, status, trigger from ${db.read('platform_flows')} order by name, id`;
  const readAll = async () => (await db.query<StoredFlow>(ALL)).rows;
  const readStored = async (id: string) => {
    const [row] = (await db.query<ActiveFlowRow>(ONE, [id])).rows;
    return row && buildFlowPlan(row, openSecret);
  };

  return {
    current,
    known: () => plans.values(),
    readAll,
    readStored,
    forget,
    onChange: (handle) => void handlers.push(handle),
  };
}

/** The tables that an answer of a flow depends on, as quoted names with their schema. */
export const flowTablesOf = ({ schemas }: Pick<Db, 'schemas'>): readonly string[] =>
  ['platform_flows', 'platform_operations'].map(
    (name) => `${quoteIdentifier(schemas[0] as string)}.${quoteIdentifier(name)}`,
  );

/** Trigger that tells every process when a flow or an operation changes. */
export const flowsChangedTriggers = (db: Db): Migration =>
  createChangeNotificationMigration({
    id: '2026-11-26-announce-flows',
    name: 'platform_flows_changed',
    channel: FLOWS_CHANGED_CHANNEL,
    tables: [db.watch('platform_flows'), db.watch('platform_operations')],
  });
