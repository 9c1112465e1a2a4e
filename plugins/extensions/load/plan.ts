import type { Found, ReasonCode } from '../model.ts';
import { hasServerPart, isConfined, type Slot } from './slot.ts';

export interface Plan {
  /** Go on running as they are. */
  readonly kept: readonly Slot[];
  /** Run now, and are taken away: changed, gone, or tried again. */
  readonly leaving: readonly Slot[];
  /** To be loaded, in the order in which they were found. */
  readonly fresh: readonly Found[];
}

/** What of a load is done though nothing changed. */
export interface Again {
  /** Loaded anew in any case, by name. */
  readonly names?: readonly string[];
  /**
   * Everything that failed is tried again: the cause may lie elsewhere. Without it only what failed because of another
   * extension is, since trying may take long.
   */
  readonly failed?: boolean;
}

/** Whether these hold depends on who else is there. */
const BY_OTHERS: ReadonlySet<string> = new Set<ReasonCode>([
  'AMBIGUOUS_ENDPOINT',
  'AMBIGUOUS_HOOK',
  'AMBIGUOUS_OPERATION',
  'ROUTE_COLLISION',
  'OPERATION_COLLISION',
]);

/** What a load has to do, given what runs. `broken` are those that failed since they were loaded. */
export function planFor(
  running: ReadonlyMap<string, Slot>,
  all: readonly Found[],
  { names = [], failed = false }: Again,
  broken: { has(id: string): boolean },
): Plan {
  const isDone = (slot: Slot): boolean => {
    const codes = [slot.failure?.code, ...(slot.loaded?.entries ?? []).map(({ reason }) => reason?.code)].filter(
      (code) => code !== undefined,
    );
    return failed ? codes.length === 0 && !broken.has(slot.found.id) : !codes.some((code) => BY_OTHERS.has(code));
  };
  const isSame = (found: Found): boolean => {
    const slot = running.get(found.id);
    return slot !== undefined && slot.found.revision === found.revision && isDone(slot) && !names.includes(found.name);
  };
  const ids = new Set(all.map(({ id }) => id));
  // What a package added is known by its name: those who share one come and go together.
  const moving = new Set([
    ...all.filter((found) => !isSame(found)).flatMap((found) => [found.name, running.get(found.id)?.found.name]),
    ...[...running.values()].filter(({ found }) => !ids.has(found.id)).map(({ found }) => found.name),
  ]);
  const stays = (found: Found): boolean => isSame(found) && !moving.has(found.name);
  const kept = all.filter(stays).map(({ id }) => running.get(id) as Slot);
  return {
    kept,
    leaving: [...running.values()].filter((slot) => !kept.includes(slot)),
    fresh: all.filter((found) => !stays(found)),
  };
}

/** Code with full authority comes or goes: what it may take or leave to confined code is decided anew. */
export const movesFullAuthority = ({ leaving, fresh }: Plan): boolean =>
  [...leaving.map(({ found }) => found), ...fresh].some((found) => !isConfined(found) && hasServerPart(found));
