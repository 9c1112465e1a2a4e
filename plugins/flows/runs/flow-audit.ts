import { type AuditLine, type Authority, authorities } from '#kernel';
import type { FlowPlan, OperationPlan } from '../plan/flow-plan.ts';

/**
 * What the active flows may reach, for the audit: how each begins, and what its operations name. Options with templates depend on the data
 * of the run, and the audit says so. Operations that nothing leads to never run and are left out.
 */
export const createFlowAuditLines = (plans: Iterable<FlowPlan>): readonly AuditLine[] =>
  [...plans].map((plan) => ({
    name: `flow "${plan.name}" (${plan.id})`,
    version: '',
    runtime: 'internal',
    authorities: [...authoritiesOfTrigger(plan), ...reachableOperations(plan).flatMap((one) => authoritiesOf(one))],
  }));

function authoritiesOfTrigger(plan: FlowPlan): readonly Authority[] {
  const { id, trigger, options } = plan;
  const route = `/flows/trigger/${id}`;
  switch (trigger) {
    case 'webhook':
      return authorities('serves', [`${options.method === 'POST' ? 'POST' : 'GET'} ${route}`], 'as the caller');
    case 'manual':
      return authorities('serves', [`POST ${route}`], 'as the caller');
    case 'event':
      return authorities(
        options.type === 'filter' ? 'may change' : 'listens to',
        plan.listensTo?.names ?? [],
        options.type === 'filter' ? 'and may reject, as the acting user' : 'as the acting user',
      );
    case 'schedule':
      return [{ verb: 'runs as system', object: '', detail: `by the schedule ${textOf(options.cron)}` }];
    case 'operation':
      return [{ verb: 'may be called by', object: 'other flows', detail: 'as their caller' }];
  }
}

function reachableOperations({ first, operations }: FlowPlan): readonly OperationPlan[] {
  const reached = new Set<OperationPlan>();
  const next = [first];
  for (let id = next.pop(); id !== undefined; id = next.pop()) {
    const operation = id === null ? undefined : operations.get(id);
    if (!operation || reached.has(operation)) continue;
    reached.add(operation);
    next.push(operation.reject, operation.resolve);
  }
  return [...reached];
}

const ITEM_VERBS: Readonly<Record<string, string>> = {
  'item-create': 'creates',
  'item-read': 'reads',
  'item-update': 'updates',
  'item-delete': 'deletes',
};

function authoritiesOf({ type, options }: OperationPlan): readonly Authority[] {
  const itemVerb = ITEM_VERBS[type];
  if (itemVerb !== undefined)
    return [{ verb: itemVerb, object: textOf(options.collection), detail: rightsOf(options.permissions) }];
  switch (type) {
    case 'request':
      return [{ verb: 'sends requests to', object: originOf(options.url) }];
    case 'mail':
      return authorities('sends mail to', (Array.isArray(options.to) ? options.to : [options.to]).map(textOf));
    case 'notification':
      return [{ verb: 'creates', object: 'platform_notifications', detail: rightsOf(options.permissions) }];
    case 'trigger':
      return [{ verb: 'runs', object: `the flow ${textOf(options.flow)}` }];
    default:
      return [{ verb: 'runs', object: `the operation ${type}` }];
  }
}

const BY_DATA = 'what its data names';
const MAX_LENGTH = 200;

/** A literal option; one with a template, or without text, is up to the data of the run. */
const textOf = (value: unknown): string =>
  typeof value === 'string' && value !== '' && !value.includes('{{') ? value.slice(0, MAX_LENGTH) : BY_DATA;

/** The origin of an address alone: paths and query strings may hold secrets. */
function originOf(value: unknown): string {
  const origin = typeof value === 'string' ? (/^[a-z]+:\/\/[^/?#]+/i.exec(value)?.[0] ?? value) : '';
  const text = textOf(origin);
  return text !== BY_DATA && URL.canParse(text) ? new URL(text).origin : BY_DATA;
}

function rightsOf(permissions: unknown): string {
  if (permissions === undefined || permissions === null || permissions === '' || permissions === '$trigger')
    return 'with the permissions of the caller';
  if (permissions === '$full') return 'with all permissions, as the system';
  if (permissions === '$public') return 'with the permissions of the Public role';
  return `with the permissions of the role ${textOf(permissions)}`;
}
