import { AsyncLocalStorage } from 'node:async_hooks';
import type { Caller } from './caller.ts';
import { fail } from './errors.ts';
import type { Log } from './log.ts';

/** What an emitter passes with an event beside its payload. */
export interface EmitMeta {
  readonly caller: Caller;
  readonly [key: string]: unknown;
}

/** What a listener receives with an event. `event` is the emitted name, never a pattern. */
export interface EventMeta extends EmitMeta {
  readonly event: string;
}

/** Returns the next payload; undefined keeps the current one. An error that it throws rejects the change. */
export type FilterHandler = (payload: unknown, meta: EventMeta) => unknown;
/** Runs after commit. Its result is ignored, and an error that it throws is logged. */
export type ActionHandler = (meta: EventMeta) => unknown;
export type ListenerKind = 'filter' | 'action';

/** Keeps `effect` until the pending change is committed, and drops it on rollback; false where no change is pending: the caller runs it. */
export type AfterCommitQueue = (effect: () => void) => boolean;

const MAX_DEPTH = 8;
/** Cached event names: extensions may emit any number of different ones. */
const MAX_CACHED_NAMES = 10_000;

/** The nested events that led to the running code, and whether third-party listeners are skipped. */
interface EmitContext {
  readonly path: readonly string[];
  readonly withoutExtensions: boolean;
}
const emitContext = new AsyncLocalStorage<EmitContext>();

interface Listener {
  readonly owner: string;
  /** True for a listener of a core plugin, which also runs inside `withoutExtensionListeners`. */
  readonly core: boolean;
  readonly pattern: string;
  readonly handle: FilterHandler | ActionHandler;
}

/** Whether `pattern` covers a name or a narrower pattern. `**` matches one or more parts, `*` one: `posts.**` covers `posts.items.*`. */
export function matchesEventPattern(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return name === pattern;
  if (pattern === '**') return true;
  const matches = ([first, ...rest]: readonly string[], names: readonly string[]): boolean => {
    if (first === undefined || names.length === 0) return first === undefined && names.length === 0;
    if (first === '**') return names.some((_name, at) => matches(rest, names.slice(at + 1)));
    return names[0] !== '**' && (first === '*' || first === names[0]) && matches(rest, names.slice(1));
  };
  return matches(pattern.split('.'), name.split('.'));
}

/**
 * Registers listeners and emits events. Filters run in turn inside the transaction; they may replace the payload, or reject the
 * change by throwing. Actions run after commit, concurrently; a failed one is logged with its owner, and the others run.
 */
export class EventDispatcher {
  // Replaced, never mutated, so that a running emit keeps the list it began with.
  #listeners: Readonly<Record<ListenerKind, readonly Listener[]>> = { filter: [], action: [] };
  /** Listeners of each emitted name, a cache for hot paths. Each change of the list clears it. */
  readonly #byName = { filter: new Map<string, readonly Listener[]>(), action: new Map<string, readonly Listener[]>() };
  /** False until the first `withoutExtensionListeners`: until then hot paths skip the look into `emitContext`. */
  #mayLeaveOutExtensions = false;
  readonly #log: Log;
  afterCommitQueues: () => readonly AfterCommitQueue[] = () => [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** Returns the function that unsubscribes. */
  on(kind: ListenerKind, owner: string, pattern: string, handle: Listener['handle'], core: boolean): () => void {
    const one: Listener = { owner, core, pattern, handle };
    this.#set({ ...this.#listeners, [kind]: [...this.#listeners[kind], one] });
    return () => this.#remove((other) => other === one);
  }

  /** Runs `work` without third-party listeners. */
  withoutExtensionListeners<T>(work: () => T): T {
    this.#mayLeaveOutExtensions = true;
    return emitContext.run({ path: emitContext.getStore()?.path ?? [], withoutExtensions: true }, work);
  }

  hasListeners(kind: ListenerKind, name: string): boolean {
    return this.#matching(kind, name).length > 0;
  }

  /** Emits each name in order (the generic one first) and returns the payload. @throws EVENT_LOOP_DETECTED, and what a filter throws. */
  async filter<T>(names: readonly string[], payload: T, meta: EmitMeta): Promise<T> {
    let current: unknown = payload;
    for (const name of names) {
      const listeners = this.#matching('filter', name);
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

  /** Emits after commit. Listeners are chosen at this call: at commit `withoutExtensionListeners` has ended. */
  action(names: readonly string[], meta: EmitMeta): void {
    const runs = names.flatMap((name) => this.#matching('action', name).map((one) => () => this.#run(one, name, meta)));
    if (runs.length === 0) return;
    const emit = () => {
      for (const run of runs) void run();
    };
    if (!this.afterCommitQueues().some((defer) => defer(emit))) emit();
  }

  /** The number of subscriptions of `owner`: tests assert that an unloaded plugin leaves none. */
  countOf(owner: string): number {
    return Object.values(this.#listeners).flatMap((all) => all.filter((one) => one.owner === owner)).length;
  }

  removeOwner(owner: string, { core } = { core: true }): void {
    this.#remove((one) => one.owner === owner && (core || !one.core));
  }

  #matching(kind: ListenerKind, name: string): readonly Listener[] {
    const known = this.#byName[kind];
    let all = known.get(name);
    if (!all) {
      all = this.#listeners[kind].filter((one) => matchesEventPattern(one.pattern, name));
      if (known.size < MAX_CACHED_NAMES) known.set(name, all);
    }
    const coreOnly = this.#mayLeaveOutExtensions && all.length > 0 && emitContext.getStore()?.withoutExtensions;
    return coreOnly ? all.filter((one) => one.core) : all;
  }

  async #run(one: Listener, name: string, meta: EmitMeta): Promise<void> {
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

  #set(listeners: Readonly<Record<ListenerKind, readonly Listener[]>>): void {
    this.#listeners = listeners;
    for (const known of Object.values(this.#byName)) known.clear();
  }
}
