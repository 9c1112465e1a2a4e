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
const chain = new AsyncLocalStorage<readonly string[]>();

interface Listener {
  readonly owner: string;
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
  readonly #filters: Listener[] = [];
  readonly #actions: Listener[] = [];
  #known = nothingKnown();
  readonly #log: Log;
  deferrals: () => readonly Deferral[] = () => [];

  constructor(log: Log) {
    this.#log = log;
  }

  onFilter(owner: string, pattern: string, handle: FilterHandler): void {
    this.#filters.push({ owner, pattern, matches: patternMatcher(pattern), handle });
    this.#known = nothingKnown();
  }

  onAction(owner: string, pattern: string, handle: ActionHandler): void {
    this.#actions.push({ owner, pattern, matches: patternMatcher(pattern), handle });
    this.#known = nothingKnown();
  }

  /** Does anybody listen to this name? Remembered, so that asking on a hot path costs one lookup. */
  has(kind: 'filter' | 'action', name: string): boolean {
    let known = this.#known[kind].get(name);
    if (known === undefined) {
      known = (kind === 'filter' ? this.#filters : this.#actions).some((one) => one.matches(name));
      this.#known[kind].set(name, known);
    }
    return known;
  }

  /** Whose listeners answer to this name, for the audit and for "why is this collection slow". */
  listeners(kind: 'filter' | 'action', name: string): readonly string[] {
    return (kind === 'filter' ? this.#filters : this.#actions)
      .filter((one) => one.matches(name))
      .map((one) => one.owner);
  }

  /** Emits each name in turn (the generic one first); `undefined` from a handler keeps the payload. */
  async filter<T>(names: readonly string[], payload: T, meta: Meta): Promise<T> {
    let current: unknown = payload;
    for (const name of names) {
      if (!this.has('filter', name)) continue;
      await this.#deeper(name, async () => {
        for (const one of this.#filters) {
          if (!one.matches(name)) continue;
          const answer = await (one.handle as FilterHandler)(current, { ...meta, event: name });
          if (answer !== undefined) current = answer;
        }
      });
    }
    return current as T;
  }

  action(names: readonly string[], meta: Meta): void {
    const wanted = names.filter((name) => this.has('action', name));
    if (wanted.length === 0) return;
    const emit = () => {
      for (const name of wanted)
        for (const one of this.#actions) if (one.matches(name)) void this.#act(one, name, meta);
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
    const path = [...(chain.getStore() ?? []), name];
    if (path.length > MAX_DEPTH) throw fail('EVENT_LOOP_DETECTED', `events go round: ${path.join(' → ')}`);
    await chain.run(path, run);
  }

  removeOwner(owner: string): void {
    for (const list of [this.#filters, this.#actions]) {
      for (let at = list.length - 1; at >= 0; at--) if (list[at]?.owner === owner) list.splice(at, 1);
    }
    this.#known = nothingKnown();
  }
}
