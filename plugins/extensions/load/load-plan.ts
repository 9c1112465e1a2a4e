import type { DiscoveredExtension, ReasonCode } from '../model.ts';
import { hasServerPart, isConfined, type Slot } from './slot.ts';

export interface LoadPlan {
  /** Go on running as they are. */
  readonly kept: readonly Slot[];
  /** Run now, and are taken away: changed, gone, or tried again. */
  readonly toUnload: readonly Slot[];
  /** To be loaded, in the order in which they were found. */
  readonly toLoad: readonly DiscoveredExtension[];
}

/** What of a load is done though nothing changed. */
export interface ReloadRequest {
  /** Loaded anew in any case, by name. */
  readonly names?: readonly string[];
  /**
   * Everything that failed is tried again: the cause may lie elsewhere. Without it only what failed because of another
   * extension is, since trying may take long.
   */
  readonly retryFailed?: boolean;
}

/** Whether these hold depends on who else is there. */
const DEPENDS_ON_OTHERS: ReadonlySet<string> = new Set<ReasonCode>([
  'AMBIGUOUS_ENDPOINT',
  'AMBIGUOUS_HOOK',
  'AMBIGUOUS_OPERATION',
  'ROUTE_COLLISION',
  'OPERATION_COLLISION',
]);

/** What a load has to do, given what runs. `broken` are those that failed since they were loaded. */
export function createLoadPlan(
  running: ReadonlyMap<string, Slot>,
  all: readonly DiscoveredExtension[],
  { names = [], retryFailed = false }: ReloadRequest,
  broken: { has(id: string): boolean },
): LoadPlan {
  const isDone = (slot: Slot): boolean => {
    const codes = [slot.failure?.code, ...(slot.loaded?.entries ?? []).map(({ reason }) => reason?.code)].filter(
      (code) => code !== undefined,
    );
    return retryFailed
      ? codes.length === 0 && !broken.has(slot.extension.id)
      : !codes.some((code) => DEPENDS_ON_OTHERS.has(code));
  };
  const isSame = (found: DiscoveredExtension): boolean => {
    const slot = running.get(found.id);
    return (
      slot !== undefined && slot.extension.revision === found.revision && isDone(slot) && !names.includes(found.name)
    );
  };
  const ids = new Set(all.map(({ id }) => id));
  // What a package added is known by its name: those who share one come and go together.
  const moving = new Set([
    ...all.filter((found) => !isSame(found)).flatMap((found) => [found.name, running.get(found.id)?.extension.name]),
    ...[...running.values()].filter(({ extension }) => !ids.has(extension.id)).map(({ extension }) => extension.name),
  ]);
  const stays = (found: DiscoveredExtension): boolean => isSame(found) && !moving.has(found.name);
  const kept = all.filter(stays).map(({ id }) => running.get(id) as Slot);
  return {
    kept,
    toUnload: [...running.values()].filter((slot) => !kept.includes(slot)),
    toLoad: all.filter((found) => !stays(found)),
  };
}

/** Code with full authority comes or goes: what it may take or leave to confined code is decided anew. */
export const changesFullAuthority = ({ toUnload, toLoad }: LoadPlan): boolean =>
  [...toUnload.map(({ extension }) => extension), ...toLoad].some(
    (found) => !isConfined(found) && hasServerPart(found),
  );
