import type { FullAuthorityDeps } from './injected-services.ts';

export type InitHandler = (meta: Readonly<Record<string, unknown>>) => unknown;

export interface PageEmbed {
  readonly owner: string;
  readonly position: 'head' | 'body';
  readonly code: string | (() => unknown);
}

/** Init handlers, embeds and schedules of all extensions of one service. */
export interface FullAuthorityRegistrations {
  readonly inits: { readonly owner: string; readonly event: string; readonly handle: InitHandler }[];
  readonly embeds: PageEmbed[];
  /** Reserved names of schedules. */
  readonly schedules: Set<string>;
}

const states = new WeakMap<object, FullAuthorityRegistrations>();

export function getFullAuthorityRegistrations({ log }: Pick<FullAuthorityDeps, 'log'>): FullAuthorityRegistrations {
  let state = states.get(log);
  if (!state) {
    state = { inits: [], embeds: [], schedules: new Set() };
    states.set(log, state);
  }
  return state;
}

/** Adds to a list. Answers a function that removes it. */
export function addWithRemoveFunction<T>(list: T[], one: T): () => void {
  list.push(one);
  return () => {
    const at = list.indexOf(one);
    if (at >= 0) list.splice(at, 1);
  };
}
