import type { EventsApi, IdentityApi, Log } from '#kernel';
import type { AccessControl } from '../../access/contract.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import type { MailService } from '../../mail/contract.ts';
import type { OutboundService } from '../../outbound/contract.ts';
import type { FlowOperationKind } from '../contract.ts';
import type { Deliveries } from '../delivery/deliveries.ts';
import type { FlowPlans } from '../plan/flow-plans.ts';
import type { CallersWithoutListeners } from '../run/callers-without-listeners.ts';
import type { FlowRunner } from '../run/flow-runner.ts';
import { conditionOperation } from './condition.ts';
import { createItemOperations } from './item-operations.ts';
import { jsonWebTokenOperation } from './json-web-token.ts';
import { createMessageOperations } from './messages.ts';
import { createRunAsOperation } from './operation-callers.ts';
import { createRequestOperation, type RequestLimits } from './request.ts';
import { createTriggerOperation } from './trigger.ts';
import { sleepOperation, throwErrorOperation, transformOperation } from './values.ts';

interface Deps {
  readonly used: {
    readonly access: AccessControl;
    readonly items: ItemsEngine;
    readonly mail: MailService;
    readonly outbound: OutboundService;
  };
  readonly identity: IdentityApi;
  readonly events: EventsApi;
  readonly withoutListeners: CallersWithoutListeners;
  readonly systemCaller: Parameters<typeof createRunAsOperation>[0]['systemCaller'];
  readonly plans: FlowPlans;
  readonly runner: () => FlowRunner;
  readonly limits: RequestLimits;
  readonly deliveries: Deliveries;
  readonly log: Log;
}

/** The operations that every service has, but `exec`, which is the plugin `flow-scripts`. */
export function createCoreOperations({ used, identity, events, ...deps }: Deps): readonly FlowOperationKind[] {
  const { withoutListeners, systemCaller, plans, runner, limits, deliveries, log } = deps;
  const { access, items, mail, outbound } = used;
  const runAs = createRunAsOperation({ identity, access, events, withoutListeners, systemCaller });
  return [
    conditionOperation,
    transformOperation,
    throwErrorOperation,
    jsonWebTokenOperation,
    sleepOperation,
    createTriggerOperation({ plans, runner, log }),
    createRequestOperation({ outbound, deliveries, ...limits }),
    ...createItemOperations({ items, runAs }),
    ...createMessageOperations({ mail, items, runAs, log }),
  ];
}
