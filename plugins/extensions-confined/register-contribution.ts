import type { Authority, EventsApi } from '#kernel';
import type { PackageHandle } from '../broker/contract.ts';
import type { ContributionFailure, GrantsByCapability } from '../extensions/contract.ts';
import { LoadFailure } from '../extensions/library.ts';
import type { GuestProgram } from '../sandbox/contract.ts';
import { assertValidConfinedContribution } from './assert-contribution.ts';
import { createEndpointHandler } from './endpoint.ts';
import type { EndpointAccessLevel } from './endpoint-capability.ts';
import { createContributionFailureLog } from './failure-log.ts';
import type { ConfinedContribution } from './gate/contributions.ts';
import type { PackagePastLoadGate } from './gate/gate.ts';
import { createConfinedActionListener, createConfinedFilterListener } from './hook.ts';
import type { ConfinedDeps } from './injected-services.ts';
import { createConfinedOperation } from './operation.ts';
import type { LoadedContribution } from './run-handler.ts';

/** A contribution of a confined package while it is registered. */
export interface RegisteredContribution {
  /** The latest failures of the contribution. */
  failures(): readonly ContributionFailure[];
  /** Stops the contribution: no request, flow step or event reaches it any more. */
  stop(): void;
  /** Removes the audit line and the event listeners of the contribution. */
  remove(): void;
}

/**
 * Registers one contribution of a package: checks it, then registers what may be refused (a route, an operation), then
 * its authority.
 * @throws LoadFailure; nothing stays registered.
 */
export function registerContribution(
  { extension, version, positions }: PackagePastLoadGate,
  contribution: ConfinedContribution,
  grants: GrantsByCapability,
  guest: (brokerAccess: PackageHandle, type: ConfinedContribution['type']) => GuestProgram,
  deps: ConfinedDeps,
): RegisteredContribution {
  assertValidConfinedContribution(contribution);
  const { type, id, events } = contribution;
  let running: LoadedContribution | undefined;
  const getRunning = (): LoadedContribution => {
    if (!running) throw new Error('a contribution was called before it was registered');
    return running;
  };
  const unregister =
    type === 'endpoint'
      ? registerMount(extension.name, contribution, getRunning, deps)
      : type === 'operation'
        ? registerOperation(extension.name, contribution, getRunning, deps)
        : undefined;
  const brokerAccess = deps.subjects.register({
    name: extension.name,
    version,
    runtime: 'confined',
    grants,
    authorities: [AUTHORITIES[type](id)],
  });
  const redact = (text: string) => deps.subjects.redact(text);
  const failures = createContributionFailureLog({
    extension: extension.name,
    contribution,
    positions,
    redact,
    log: deps.log,
  });
  running = { contribution, brokerAccess, guest: guest(brokerAccess, type), failures };
  let isStopped = false;
  if (type === 'hook') {
    const ownEvents = brokerAccess.get<EventsApi>('events');
    const filter = createConfinedFilterListener(getRunning, deps.schema);
    const action = createConfinedActionListener(getRunning, deps.schema);
    for (const event of events.filter ?? [])
      ownEvents.onFilter(event, (payload, meta) => (isStopped ? undefined : filter(payload, meta)));
    for (const event of events.action ?? [])
      ownEvents.onAction(event, (meta) => (isStopped ? undefined : action(meta)));
  }
  return {
    failures: () => failures.list(),
    stop() {
      if (!isStopped) unregister?.();
      isStopped = true;
    },
    remove: () => brokerAccess.remove(),
  };
}

const AUTHORITIES = {
  endpoint: (id: string): Authority => ({ verb: 'serves', object: `/${id}` }),
  operation: (id: string): Authority => ({ verb: 'provides', object: `the operation ${id}` }),
  hook: (id: string): Authority => ({ verb: 'provides', object: `the hook ${id}` }),
} as const;

/** The levels of endpoints in the words of routes. */
const ROUTE_ACCESS = { public: 'public', authenticated: 'user', app: 'app', admin: 'admin' } as const;

function registerMount(
  owner: string,
  { id, capabilities, input, output }: ConfinedContribution,
  running: () => LoadedContribution,
  deps: ConfinedDeps,
): () => void {
  const path = `/${id}`;
  const { access: level } = capabilities.endpoint as { readonly access: EndpointAccessLevel };
  return deps.mounts.add({
    path,
    owner,
    confined: true,
    description: { access: ROUTE_ACCESS[level], input, output },
    handle: createEndpointHandler({ level, input, output }, path, running, deps),
  });
}

function registerOperation(
  owner: string,
  { id, secretOptions }: ConfinedContribution,
  running: () => LoadedContribution,
  deps: ConfinedDeps,
): () => void {
  if (deps.operations.owners(id).length > 0) {
    throw new LoadFailure('OPERATION_COLLISION', `There is an operation "${id.slice(0, 80)}" already.`);
  }
  return deps.operations.register(owner, createConfinedOperation(running, id, secretOptions));
}
