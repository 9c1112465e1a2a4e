import { AsyncLocalStorage } from 'node:async_hooks';
import type { Caller } from './context.ts';
import { fail } from './errors.ts';
import type { Log } from './log.ts';

/** What an event says beside its payload. `event` is the concrete name that fired. */
export interface EventMeta {
  readonly event: string;
  readonly caller: Caller;
  readonly [key: string]: unknown;
}

export type FilterHandler = (payload: unknown, meta: EventMeta) => unknown;
export type ActionHandler = (meta: EventMeta) => unknown;
type Meta = { readonly caller: Caller; readonly [key: string]: unknown };

/** Runs an effect once what caused it is certain; answers false when nothing is pending and it may run at once. */
export type Deferral = (effect: () => void) => boolean;

const MAX_DEPTH = 8;

/** The events inside each other that led here, and whether packages of others are told of what happens. */
interface Course {
  readonly path: readonly string[];
  readonly quiet: boolean;
}
const course = new AsyncLocalStorage<Course>();

interface Listener {
  readonly owner: string;
  /** A rule of the product's own: it holds whoever is told. */
  readonly core: boolean;
  readonly pattern: string;
  readonly matches: (name: string) => boolean;
  readonly handle: FilterHandler | ActionHandler;
}

const nothingKnown = () => ({ filter: new Map<string, boolean>(), action: new Map<string, boolean>() });

/** `items.create` fits `items.*`; `posts.items.create` fits `*.items.*`, `posts.**` and `**`. */
export function patternMatcher(pattern: string): (name: string) => boolean {
  if (!pattern.includes('*')) return (name) => name === pattern;
  const source = pattern
    .split('.')
    .map((part) => (part === '**' ? '.+' : part === '*' ? '[^.]+' : part.replace(/[^\w-]/g, '\\$&')))
    .join('\\.');
  const expression = new RegExp(`^${source}$`);
  return (name) => expression.test(name);
}

/**
 * Filters run in order, awaited, inside the transaction, and may replace the payload or refuse by throwing. Actions run
 * after commit, beside each other; a failure is logged with its owner and reaches nobody.
 */
export class Events {
  // Replaced and never changed, so that a listener which leaves takes none of the others with it.
  #filters: readonly Listener[] = [];
  #actions: readonly Listener[] = [];
  #known = nothingKnown();
  /** Where nobody has ever asked for quiet, nobody need look for it on a hot path. */
  #mayBeQuiet = false;
  readonly #log: Log;
  deferrals: () => readonly Deferral[] = () => [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** Answers how to stop listening. */
  onFilter(owner: string, pattern: string, handle: FilterHandler, core = true): () => void {
    const one: Listener = { owner, core, pattern, matches: patternMatcher(pattern), handle };
    this.#set([...this.#filters, one], this.#actions);
    return () => this.#without((other) => other === one);
  }

  onAction(owner: string, pattern: string, handle: ActionHandler, core = true): () => void {
    const one: Listener = { owner, core, pattern, matches: patternMatcher(pattern), handle };
    this.#set(this.#filters, [...this.#actions, one]);
    return () => this.#without((other) => other === one);
  }

  /** Runs `work`, of which only the product's own listeners are told. */
  quietly<T>(work: () => T): T {
    this.#mayBeQuiet = true;
    return course.run({ path: course.getStore()?.path ?? [], quiet: true }, work);
  }

  /** Does anybody listen to this name? Remembered for a hot path: not of all names that extensions may make up. */
  has(kind: 'filter' | 'action', name: string): boolean {
    if (this.#mayBeQuiet && course.getStore()?.quiet) return this.#hearing(kind, name).length > 0;
    let known = this.#known[kind].get(name);
    if (known === undefined) {
      known = this.#hearing(kind, name).length > 0;
      if (this.#known[kind].size < 10_000) this.#known[kind].set(name, known);
    }
    return known;
  }

  /** Whose listeners answer to this name, for the audit and for "why is this collection slow". */
  listeners(kind: 'filter' | 'action', name: string): readonly string[] {
    return this.#hearing(kind, name).map((one) => one.owner);
  }

  #hearing(kind: 'filter' | 'action', name: string): readonly Listener[] {
    const quiet = course.getStore()?.quiet ?? false;
    const all = kind === 'filter' ? this.#filters : this.#actions;
    return all.filter((one) => (one.core || !quiet) && one.matches(name));
  }

  /** Emits each name in turn (the generic one first); `undefined` from a handler keeps the payload. */
  async filter<T>(names: readonly string[], payload: T, meta: Meta): Promise<T> {
    let current: unknown = payload;
    for (const name of names) {
      if (!this.has('filter', name)) continue;
      await this.#deeper(name, async () => {
        for (const one of this.#hearing('filter', name)) {
          const answer = await (one.handle as FilterHandler)(current, { ...meta, event: name });
          if (answer !== undefined) current = answer;
        }
      });
    }
    return current as T;
  }

  action(names: readonly string[], meta: Meta): void {
    // Who is told is settled now; by the time it is certain, what led here is over.
    const told = names.flatMap((name) =>
      this.has('action', name) ? this.#hearing('action', name).map((one) => ({ one, name })) : [],
    );
    if (told.length === 0) return;
    const emit = () => {
      for (const { one, name } of told) void this.#act(one, name, meta);
    };
    for (const defer of this.deferrals()) if (defer(emit)) return;
    emit();
  }

  async #act(one: Listener, name: string, meta: Meta): Promise<void> {
    try {
      await this.#deeper(name, async () => (one.handle as ActionHandler)({ ...meta, event: name }));
    } catch (error) {
      this.#log.warn({ err: error, listener: one.owner, event: name }, 'an action failed');
    }
  }

  async #deeper(name: string, run: () => Promise<unknown>): Promise<void> {
    const { path: before = [], quiet = false } = course.getStore() ?? {};
    const path = [...before, name];
    if (path.length > MAX_DEPTH) throw fail('EVENT_LOOP_DETECTED', `events go round: ${path.join(' → ')}`);
    await course.run({ path, quiet }, run);
  }

  removeOwner(owner: string, { core } = { core: true }): void {
    this.#without((one) => one.owner === owner && (core || !one.core));
  }

  #without(gone: (one: Listener) => boolean): void {
    const stays = (one: Listener) => !gone(one);
    this.#set(this.#filters.filter(stays), this.#actions.filter(stays));
  }

  #set(filters: readonly Listener[], actions: readonly Listener[]): void {
    this.#filters = filters;
    this.#actions = actions;
    this.#known = nothingKnown();
  }
}
