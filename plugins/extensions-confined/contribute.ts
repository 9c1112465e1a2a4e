import type { Authority, EventsApi } from '#kernel';
import type { Admitted } from '../broker/contract.ts';
import type { ContributionFailure, Grants } from '../extensions/contract.ts';
import { LoadFailure } from '../extensions/library.ts';
import type { Guest } from '../sandbox/contract.ts';
import { checkContribution } from './checks.ts';
import type { ConfinedDeps } from './deps.ts';
import { endpointHandler } from './endpoint.ts';
import type { AccessLevel } from './endpoint-capability.ts';
import { createFailures } from './failures.ts';
import type { Gated } from './gate/gate.ts';
import type { Contribution } from './gate/identity.ts';
import { confinedAction, confinedFilter } from './hook.ts';
import { confinedOperation } from './operation.ts';
import type { Running } from './running.ts';

/** Something registered. */
export interface Contributed {
  /** What failed of late. */
  failures(): readonly ContributionFailure[];
  /** No request, step or event reaches it any more. */
  stop(): void;
  /** Its line in the audit and all its listeners are gone. */
  remove(): void;
}

/**
 * Registers one contribution of a package: checks first, then what may be refused (a route, an operation), and only then
 * its authority. LoadFailure leaves nothing behind.
 */
export function contribute(
  { found, version, positions }: Gated,
  contribution: Contribution,
  grants: Grants,
  guest: (admitted: Admitted, type: Contribution['type']) => Guest,
  deps: ConfinedDeps,
): Contributed {
  checkContribution(contribution);
  const { type, id, events } = contribution;
  let running: Running | undefined;
  const current = (): Running => {
    if (!running) throw new Error('a contribution that is not loaded was asked for something');
    return running;
  };
  const withdraw =
    type === 'endpoint'
      ? mount(found.name, contribution, current, deps)
      : type === 'operation'
        ? offer(found.name, contribution, current, deps)
        : undefined;
  const admitted = deps.subjects.admit({
    name: found.name,
    version,
    runtime: 'confined',
    grants,
    authorities: [ADDS[type](id)],
  });
  const redact = (text: string) => deps.subjects.redact(text);
  const failures = createFailures({ extension: found.name, contribution, positions, redact, log: deps.log });
  running = { contribution, admitted, guest: guest(admitted, type), failures };
  let isStopped = false;
  if (type === 'hook') {
    const own = admitted.get<EventsApi>('events');
    const filter = confinedFilter(current, deps.schema);
    const action = confinedAction(current, deps.schema);
    for (const event of events.filter ?? [])
      own.onFilter(event, (payload, meta) => (isStopped ? undefined : filter(payload, meta)));
    for (const event of events.action ?? []) own.onAction(event, (meta) => (isStopped ? undefined : action(meta)));
  }
  return {
    failures: () => failures.list(),
    stop() {
      if (!isStopped) withdraw?.();
      isStopped = true;
    },
    remove: () => admitted.remove(),
  };
}

const ADDS = {
  endpoint: (id: string): Authority => ({ verb: 'serves', object: `/${id}` }),
  operation: (id: string): Authority => ({ verb: 'provides', object: `the operation ${id}` }),
  hook: (id: string): Authority => ({ verb: 'provides', object: `the hook ${id}` }),
} as const;

function mount(
  owner: string,
  { id, capabilities }: Contribution,
  running: () => Running,
  deps: ConfinedDeps,
): () => void {
  const path = `/${id}`;
  const { access } = capabilities.endpoint as { readonly access: AccessLevel };
  return deps.mounts.add({ path, owner, confined: true, handle: endpointHandler(access, path, running, deps) });
}

function offer(
  owner: string,
  { id, secretOptions }: Contribution,
  running: () => Running,
  deps: ConfinedDeps,
): () => void {
  if (deps.operations.owners(id).length > 0) {
    throw new LoadFailure('OPERATION_COLLISION', `There is an operation "${id.slice(0, 80)}" already.`);
  }
  return deps.operations.register(owner, confinedOperation(running, id, secretOptions));
}
