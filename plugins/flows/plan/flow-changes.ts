import type { EventsApi } from '#kernel';
import type { InterProcessBus } from '../../cluster/contract.ts';
import type { Db } from '../../database/contract.ts';
import type { FlowPlans } from './flow-plans.ts';

interface Deps {
  readonly db: Pick<Db, 'answerAfter'>;
  readonly events: Pick<EventsApi, 'onFilter' | 'onAction'>;
  readonly bus: Pick<InterProcessBus, 'waitForConfirmation'>;
  readonly plans: Pick<FlowPlans, 'forget'>;
}

/** A change of a flow or an operation is answered when every process knows that it has to read its flows again. */
export function confirmFlowChanges({ db, events, bus, plans }: Deps): void {
  for (const name of ['flows', 'operations'])
    for (const verb of ['create', 'update', 'delete']) {
      events.onFilter(`${name}.${verb}`, () => db.answerAfter(bus.waitForConfirmation));
      events.onAction(`${name}.${verb}`, plans.forget);
    }
}
