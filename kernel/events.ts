import { AsyncLocalStorage } from 'node:async_hooks';
import type { Caller } from './caller.ts';
import { fail } from './errors.ts';
import type { Log } from './log.ts';

/** What an emitter says of an event beside its payload. */
export interface EmitMeta {
  readonly caller: Caller;
  readonly [key: string]: unknown;
}

/** `event` is the concrete name that fired. */
export interface EventMeta extends EmitMeta {
  readonly event: string;
}

/** Answers the payload to go on with; undefined keeps the one it was given. What it throws refuses the change. */
export type FilterHandler = (payload: unknown, meta: EventMeta) => unknown;
/** Runs after commit. What it answers is not used, and what it throws is logged. */
export type ActionHandler = (meta: EventMeta) => unknown;
export type EventKind = 'filter' | 'action';

/** Runs `effect` once the change that caused it is committed; answers false when no change is pending and it may run at once. */
export type AfterCommitQueue = (effect: () => void) => boolean;

const MAX_DEPTH = 8;
/** Names whose listeners are remembered: extensions may make up any number of them. */
const MAX_CACHED_NAMES = 10_000;

/** The events inside each other that led here, and whether third-party listeners are left out. */
interface EmitContext {
  readonly path: readonly string[];
  readonly withoutExtensions: boolean;
}
const emitContext = new AsyncLocalStorage<EmitContext>();

interface Listener {
  readonly owner: string;
  /** A rule of a core plugin: it holds for quiet work as well. */
  readonly core: boolean;
  readonly pattern: string;
  readonly handle: FilterHandler | ActionHandler;
}

/** Does `pattern` cover the name or narrower pattern? `**` stands for one or more parts, `*` for one: `posts.**` covers `posts.items.*`. */
export function matchesPattern(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return name === pattern;
  const within = ([first, ...rest]: readonly string[], names: readonly string[]): boolean => {
    if (first === undefined || names.length === 0) return first === undefined && names.length === 0;
    if (first === '**') return names.some((_name, at) => within(rest, names.slice(at + 1)));
    return names[0] !== '**' && (first === '*' || first === names[0]) && within(rest, names.slice(1));
  };
  return within(pattern.split('.'), name.split('.'));
}

/**
 * Filters run in order, awaited, inside the transaction, and may replace the payload or refuse by throwing. Actions run
 * after commit, beside each other; a failure of one is logged with its owner and changes nothing else.
 */
export class Events {
  // Replaced and never changed, so that an emit under way keeps the list it began with.
  #listeners: Readonly<Record<EventKind, readonly Listener[]>> = { filter: [], action: [] };
  /** What fits each name, for hot paths: emptied by each change of the list. */
  readonly #byName = { filter: new Map<string, readonly Listener[]>(), action: new Map<string, readonly Listener[]>() };
  /** While no plugin has ever called `quietly`, a hot path need not look for it. */
  #mayLeaveOutExtensions = false;
  readonly #log: Log;
  afterCommitQueues: () => readonly AfterCommitQueue[] = () => [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** Answers how to stop listening. */
  on(kind: EventKind, owner: string, pattern: string, handle: Listener['handle'], core: boolean): () => void {
    const one: Listener = { owner, core, pattern, handle };
    this.#set({ ...this.#listeners, [kind]: [...this.#listeners[kind], one] });
    return () => this.#remove((other) => other === one);
  }

  /** Runs `work` without third-party listeners. */
  quietly<T>(work: () => T): T {
    this.#mayLeaveOutExtensions = true;
    return emitContext.run({ path: emitContext.getStore()?.path ?? [], withoutExtensions: true }, work);
  }

  has(kind: EventKind, name: string): boolean {
    return this.#listenersFor(kind, name).length > 0;
  }

  /** Emits each name in turn (the generic one first); `undefined` from a handler keeps the payload. */
  async filter<T>(names: readonly string[], payload: T, meta: EmitMeta): Promise<T> {
    let current: unknown = payload;
    for (const name of names) {
      const listeners = this.#listenersFor('filter', name);
      if (listeners.length === 0) continue;
      await this.#runNested(name, async () => {
        for (const one of listeners) {
          const answer = await (one.handle as FilterHandler)(current, { ...meta, event: name });
          if (answer !== undefined) current = answer;
        }
      });
    }
    return current as T;
  }

  /** Emits after commit. The listeners are those of now: by then the work that may be quiet is over. */
  action(names: readonly string[], meta: EmitMeta): void {
    const runs = names.flatMap((name) =>
      this.#listenersFor('action', name).map((one) => () => this.#runAction(one, name, meta)),
    );
    if (runs.length === 0) return;
    const emit = () => {
      for (const run of runs) void run();
    };
    if (!this.afterCommitQueues().some((defer) => defer(emit))) emit();
  }

  /** How many subscriptions `owner` has: for tests that an unloaded plugin leaves none. */
  countOf(owner: string): number {
    return Object.values(this.#listeners).flatMap((all) => all.filter((one) => one.owner === owner)).length;
  }

  removeOwner(owner: string, { core } = { core: true }): void {
    this.#remove((one) => one.owner === owner && (core || !one.core));
  }

  #listenersFor(kind: EventKind, name: string): readonly Listener[] {
    const known = this.#byName[kind];
    let all = known.get(name);
    if (!all) {
      all = this.#listeners[kind].filter((one) => matchesPattern(one.pattern, name));
      if (known.size < MAX_CACHED_NAMES) known.set(name, all);
    }
    const isQuiet = this.#mayLeaveOutExtensions && all.length > 0 && emitContext.getStore()?.withoutExtensions;
    return isQuiet ? all.filter((one) => one.core) : all;
  }

  async #runAction(one: Listener, name: string, meta: EmitMeta): Promise<void> {
    try {
      await this.#runNested(name, async () => (one.handle as ActionHandler)({ ...meta, event: name }));
    } catch (error) {
      this.#log.warn({ err: error, listener: one.owner, event: name }, 'an action failed');
    }
  }

  async #runNested(name: string, run: () => Promise<unknown>): Promise<void> {
    const { path: before = [], withoutExtensions = false } = emitContext.getStore() ?? {};
    const path = [...before, name];
    if (path.length > MAX_DEPTH) throw fail('EVENT_LOOP_DETECTED', `events go round: ${path.join(' → ')}`);
    await emitContext.run({ path, withoutExtensions }, run);
  }

  #remove(isGone: (one: Listener) => boolean): void {
    const stays = (one: Listener) => !isGone(one);
    this.#set({ filter: this.#listeners.filter.filter(stays), action: this.#listeners.action.filter(stays) });
  }

  #set(listeners: Readonly<Record<EventKind, readonly Listener[]>>): void {
    this.#listeners = listeners;
    for (const known of Object.values(this.#byName)) known.clear();
  }
}
