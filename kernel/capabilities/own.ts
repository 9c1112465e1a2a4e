import type { ConfigKey } from '../config/cast.ts';
import { type Caller, makeSystemCaller } from '../context.ts';
import { fail } from '../errors.ts';
import { type ActionHandler, type Events, type FilterHandler, patternMatcher } from '../events.ts';
import type { Log } from '../log.ts';
import { configSchema } from '../manifest/schema.ts';
import type { Service, ServiceStore, Services } from '../services.ts';
import { type AnyCapability, type Capability, listsWiden } from './capability.ts';
import type { Ledger } from './ledger.ts';
import { LineBudget } from './line-budget.ts';
import type { RemoteMethod } from './remote.ts';

/** What a plugin with the `events` capability holds: listening and emitting within the granted patterns. */
export interface EventsApi {
  /** Both answer how to stop listening. */
  onFilter(pattern: string, handle: FilterHandler): () => void;
  onAction(pattern: string, handle: ActionHandler): () => void;
  /** Runs `work` without telling listeners of packages of others; the product's own rules hold all the same. */
  quietly<T>(work: () => T): T;
  has(kind: 'filter' | 'action', name: string): boolean;
  listeners(kind: 'filter' | 'action', name: string): readonly string[];
  filter<T>(names: readonly string[], payload: T, meta: { caller: Caller; [key: string]: unknown }): Promise<T>;
  action(names: readonly string[], meta: { caller: Caller; [key: string]: unknown }): void;
}

export interface ServicesApi {
  provide<T>(ref: Service<T>, value: T): void;
  use<Refs extends Record<string, Service<unknown>>>(refs: Refs): Services<Refs>;
}

export type AsSystem = (reason: string) => Caller;

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** By the log that a package was given. */
const budgets = new WeakMap<Log, LineBudget>();

/** Lines of confined code (conventions, "Logging"): its own text and data, without the secrets it was given. */
const remoteLog = (level: (typeof LEVELS)[number]): RemoteMethod<Log> => ({
  args: { type: 'array', minItems: 1, maxItems: 2 },
  call(log, { id, secrets }, message: unknown, meta: unknown) {
    if (!log.isLevelEnabled(level)) return;
    const clean = secrets.scrubValue(message);
    const whole = typeof clean === 'string' ? clean : (JSON.stringify(clean) ?? '');
    const text = whole.slice(0, LONGEST_LINE);
    const [shown, size] = meta === undefined ? [{}, 0] : cut(secrets.scrubValue(meta));
    const budget = budgets.get(log) ?? new LineBudget();
    budgets.set(log, budget);
    const spent = budget.spend(text.length + size);
    if (spent === 'write') log[level]({ invocation: id, ...shown }, text);
    else if (spent === 'first') log.warn({ invocation: id }, 'it writes too much: lines are dropped');
  },
});

/** Characters of the text of a line, and of what comes with it: a stranger does not fill the disk with a few of them. */
const LONGEST_LINE = 10_000;

/** What is too long is no data any more but the beginning of its text. */
function cut(meta: unknown): readonly [shown: { readonly meta: unknown }, size: number] {
  const text = JSON.stringify(meta);
  return text.length > LONGEST_LINE
    ? [{ meta: `${text.slice(0, LONGEST_LINE)}…` }, LONGEST_LINE]
    : [{ meta }, text.length];
}

export const OWN_CAPABILITIES = ['config', 'log', 'events', 'services', 'system', 'native', 'subjects'] as const;

interface KernelParts {
  readonly log: Log;
  readonly events: Events;
  readonly services: ServiceStore;
  readonly ledger: Ledger;
  readonly config: (plugin: string) => Readonly<Record<string, unknown>>;
}

interface EventsGrant {
  readonly filter?: readonly string[];
  readonly action?: readonly string[];
  readonly emit?: readonly string[];
}

const patterns = { type: 'array', items: { type: 'string', minLength: 1 } } as const;
const refuse = (capability: string, plugin: string, what: string) =>
  fail('CAPABILITY_DENIED', `${plugin} may not ${what}: its manifest does not grant it (${capability})`);

/** The capabilities of things the kernel itself holds. Everything else is defined by the plugin that owns it. */
export function ownCapabilities(parts: KernelParts): readonly AnyCapability[] {
  const { ledger } = parts;
  const deny = (capability: string, plugin: string, what: string) => {
    ledger.record('denied', plugin, `${capability}: ${what}`);
    return refuse(capability, plugin, what);
  };

  const config: Capability<Record<string, ConfigKey>, Readonly<Record<string, unknown>>> = {
    name: 'config',
    member: 'config',
    schema: configSchema,
    bind: (grant, { name }) =>
      new Proxy(parts.config(name), {
        get(values, key) {
          // `await` and JSON.stringify ask every object for these two.
          if (typeof key !== 'string' || key in grant || key === 'then' || key === 'toJSON')
            return Reflect.get(values, key);
          throw deny('config', name, `read the setting ${key}`);
        },
      }),
    describe: (grant) => [`reads the settings ${Object.keys(grant).sort().join(', ')}`],
    widens: (before, after) => Object.keys(after).some((key) => !before || !(key in before)),
  };

  const log: Capability<true, Log> = {
    name: 'log',
    member: 'log',
    schema: { type: 'boolean' },
    bind: (_grant, { name }) => parts.log.child({ owner: name }),
    remote: Object.fromEntries(LEVELS.map((level) => [level, remoteLog(level)])),
    describe: () => ['writes to the log'],
    widens: (before) => before === undefined,
  };

  const events: Capability<EventsGrant, EventsApi> = {
    name: 'events',
    member: 'events',
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: { filter: patterns, action: patterns, emit: patterns },
    },
    bind: (grant, { name, runtime }) => {
      // A package with full authority says nothing beforehand; the audit says so in one word.
      const isBound = runtime !== 'full';
      const emits = (grant.emit ?? []).map(patternMatcher);
      const mayEmit = (names: readonly string[]) => {
        for (const one of names) {
          if (isBound && !emits.some((matches) => matches(one))) throw deny('events', name, `emit ${one}`);
        }
      };
      const mayListen = (kind: 'filter' | 'action', pattern: string) => {
        if (isBound && !grant[kind]?.includes(pattern)) throw deny('events', name, `listen to ${pattern} (${kind})`);
      };
      return {
        onFilter: (pattern, handle) => {
          mayListen('filter', pattern);
          return parts.events.onFilter(name, pattern, handle, runtime === 'internal');
        },
        onAction: (pattern, handle) => {
          mayListen('action', pattern);
          return parts.events.onAction(name, pattern, handle, runtime === 'internal');
        },
        quietly: (work) => parts.events.quietly(work),
        has: (kind, event) => parts.events.has(kind, event),
        listeners: (kind, event) => parts.events.listeners(kind, event),
        filter: async (names, payload, meta) => {
          mayEmit(names);
          return parts.events.filter(names, payload, meta);
        },
        action: (names, meta) => {
          mayEmit(names);
          parts.events.action(names, meta);
        },
      };
    },
    describe: (grant) => [
      ...about(grant.filter, isChange, (names) => `may change or refuse ${names} before they are stored`),
      ...about(grant.filter, isQuery, (names) => `may change or refuse queries before they run: ${names}`),
      ...about(grant.filter, isRead, (names) => `may change rows as they are read, which slows these reads: ${names}`),
      ...about(grant.action, isChange, (names) => `is told after ${names}`),
      ...about(grant.action, isRead, (names) => `is told of rows that are read, which slows these reads: ${names}`),
      ...(grant.emit?.length ? [`emits ${grant.emit.join(', ')}`] : []),
    ],
    widens: (before, after) => listsWiden(before as never, after as never),
  };

  const services: Capability<{ provides: Record<string, string>; uses: Record<string, string> }, ServicesApi> = {
    name: 'services',
    schema: { type: 'object' },
    bind: (grant, { name }) => ({
      provide: (ref, value) => {
        if (grant.provides[ref.id] !== ref.version) throw deny('services', name, `provide ${ref.id} ${ref.version}`);
        parts.services.provide(name, ref, value);
      },
      use: (refs) =>
        Object.fromEntries(
          Object.entries(refs).map(([key, ref]) => {
            const range = grant.uses[ref.id];
            if (range === undefined) throw deny('services', name, `use ${ref.id}`);
            return [key, parts.services.get(name, ref, range)];
          }),
        ) as never,
    }),
    describe: (grant) => [
      ...(Object.keys(grant.provides).length ? [`provides ${Object.keys(grant.provides).sort().join(', ')}`] : []),
      ...(Object.keys(grant.uses).length ? [`uses ${Object.keys(grant.uses).sort().join(', ')}`] : []),
    ],
    widens: (before, after) => Object.keys(after.uses).some((id) => !before || !(id in before.uses)),
  };

  const system: Capability<{ reasons: readonly string[] }, AsSystem> = {
    name: 'system',
    member: 'asSystem',
    schema: {
      type: 'object',
      additionalProperties: false,
      required: ['reasons'],
      properties: { reasons: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 } },
    },
    bind: (grant, subject) => {
      const callers = new Map(
        grant.reasons.map((reason) => [reason, makeSystemCaller(`${subject.name}@${subject.version}`, reason)]),
      );
      return (reason) => {
        const caller = callers.get(reason);
        if (!caller) throw deny('system', subject.name, `act without a user for "${reason}"`);
        ledger.record('system', subject.name, reason);
        return caller;
      };
    },
    describe: (grant) => [`acts without a user when: ${grant.reasons.join('; ')}`],
    widens: (before, after) => listsWiden(before as never, after as never),
  };

  const native: Capability<{ modules?: readonly string[]; packages?: readonly string[] }, undefined> = {
    name: 'native',
    schema: { type: 'object', additionalProperties: false, properties: { modules: patterns, packages: patterns } },
    bind: () => undefined,
    describe: (grant) => [
      `loads ${[...(grant.modules ?? []).map((name) => `node:${name}`), ...(grant.packages ?? [])].sort().join(', ')}`,
    ],
    widens: (before, after) => listsWiden(before as never, after as never),
  };

  return [config, log, events, services, system, native];
}

/** A pattern with a wildcard at its end may stand for several kinds. */
const isRead = (pattern: string): boolean => /(\.read|\*)$/.test(pattern);
const isQuery = (pattern: string): boolean => /(\.query|\*)$/.test(pattern);
const isChange = (pattern: string): boolean => !/\.(read|query)$/.test(pattern);

function about(
  patterns: readonly string[] | undefined,
  which: (pattern: string) => boolean,
  sentence: (names: string) => string,
): readonly string[] {
  const names = patterns?.filter(which) ?? [];
  return names.length > 0 ? [sentence(names.join(', '))] : [];
}
