import type { FullDeps } from './deps.ts';

export type InitHandler = (meta: Readonly<Record<string, unknown>>) => unknown;

export interface Embed {
  readonly owner: string;
  readonly position: 'head' | 'body';
  readonly code: string | (() => unknown);
}

/** What extensions of one service added that lives nowhere else. */
export interface FullState {
  readonly inits: { readonly owner: string; readonly event: string; readonly handle: InitHandler }[];
  readonly embeds: Embed[];
  /** Names under which schedules are known in the cluster. */
  readonly schedules: Set<string>;
}

const states = new WeakMap<object, FullState>();

export function getFullState({ log }: Pick<FullDeps, 'log'>): FullState {
  let state = states.get(log);
  if (!state) {
    state = { inits: [], embeds: [], schedules: new Set() };
    states.set(log, state);
  }
  return state;
}

/** Adds to one of the lists above; answers how to take it away. */
export function addTo<T>(list: T[], one: T): () => void {
  list.push(one);
  return () => {
    const at = list.indexOf(one);
    if (at >= 0) list.splice(at, 1);
  };
}
