import { type Caller, copyCallerAsPlainData, isCaller } from '../caller.ts';
import type { ActionHandler, EmitMeta, EventDispatcher, EventMeta, FilterHandler, ListenerKind } from '../events.ts';
import { matchesEventPattern } from '../events.ts';
import { closedObjectSchema } from '../manifest/schema.ts';
import { authorities, type Capability, type GrantHolder, listsWiden } from './capability.ts';
import type { Ledger } from './ledger.ts';

/** What a plugin with the `events` capability holds. @throws CAPABILITY_DENIED outside of the granted patterns. */
export interface EventsApi
  extends Pick<EventDispatcher, 'withoutExtensionListeners' | 'hasListeners' | 'filter' | 'action'> {
  /** Both return the function that unsubscribes. `pattern` may be narrower than the grant: `posts.items.create` under `**`. */
  onFilter(pattern: string, handle: FilterHandler): () => void;
  onAction(pattern: string, handle: ActionHandler): () => void;
}

type EventsGrant = Readonly<Partial<Record<'filter' | 'action' | 'emit', readonly string[]>>>;

const patterns = { type: 'array', items: { type: 'string', minLength: 1 } } as const;

/** Third-party listeners get a description of the caller: with the caller itself they could act as its user. */
const withDescription =
  <A extends unknown[]>(handle: (...args: A) => unknown) =>
  (...args: A): unknown => {
    const meta = args.at(-1) as EventMeta;
    return handle(...([...args.slice(0, -1), { ...meta, caller: copyCallerAsPlainData(meta.caller) }] as A));
  };

export const eventsCapability = (events: EventDispatcher, ledger: Ledger): Capability<EventsGrant, EventsApi> => ({
  name: 'events',
  member: 'events',
  schema: closedObjectSchema({ filter: patterns, action: patterns, emit: patterns }, []),
  bind: (grant, subject) => bindEvents(events, ledger, grant, subject),
  describe: ({ filter = [], action = [], emit = [] }) => [
    ...authorities('may change', filter.filter(isChange), 'before it is stored'),
    ...authorities('may change', filter.filter(isQuery), 'queries before they run'),
    ...authorities('may change', filter.filter(isRead), 'rows as they are read, which slows these reads'),
    ...authorities('listens to', action.filter(isChange)),
    ...authorities('listens to', action.filter(isRead), 'rows as they are read, which slows these reads'),
    ...authorities('emits', emit),
  ],
  widens: listsWiden,
});

function bindEvents(events: EventDispatcher, ledger: Ledger, grant: EventsGrant, subject: GrantHolder): EventsApi {
  const { name, runtime, isPlugin } = subject;
  const isThirdParty = isPlugin && runtime === 'full';
  // An extension with full authority declares no patterns; the audit lists it as `FULL`.
  const isBound = runtime !== 'full' || isThirdParty;
  const isAllowed = (kind: keyof EventsGrant, pattern: string) =>
    !isBound || (grant[kind] ?? []).some((granted) => matchesEventPattern(granted, pattern));
  const assertEmits = (names: readonly string[], caller: Caller) => {
    for (const one of names) if (!isAllowed('emit', one)) throw ledger.deny('events', name, `emit ${one}`);
    if (!isCaller(caller))
      throw ledger.deny('events', name, `emit ${names[0]} with a caller that the kernel did not mint`);
  };
  const listen = (kind: ListenerKind, pattern: string, handle: FilterHandler | ActionHandler) => {
    if (!isAllowed(kind, pattern)) throw ledger.deny('events', name, `listen to ${pattern} (${kind})`);
    const own = isThirdParty ? withDescription(handle as ActionHandler) : handle;
    return events.on(kind, name, pattern, own, runtime === 'internal');
  };
  return {
    onFilter: (pattern, handle) => listen('filter', pattern, handle),
    onAction: (pattern, handle) => listen('action', pattern, handle),
    withoutExtensionListeners: (work) => {
      if (isThirdParty) throw ledger.deny('events', name, 'skip listeners');
      return events.withoutExtensionListeners(work);
    },
    hasListeners: (kind, event) => events.hasListeners(kind, event),
    filter: async (names, payload, meta: EmitMeta) => {
      assertEmits(names, meta.caller);
      return events.filter(names, payload, meta);
    },
    action: (names, meta) => {
      assertEmits(names, meta.caller);
      events.action(names, meta);
    },
  };
}

/** Whether an event pattern may match reads. A pattern that ends in a wildcard may match several kinds of events. */
const isRead = (pattern: string): boolean => /(\.read|\*)$/.test(pattern);
const isQuery = (pattern: string): boolean => /(\.query|\*)$/.test(pattern);
const isChange = (pattern: string): boolean => !/\.(read|query)$/.test(pattern);
