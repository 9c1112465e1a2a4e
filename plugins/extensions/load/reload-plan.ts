import type { DiscoveredExtension, ReasonCode } from '../extension-types.ts';
import { type ExtensionLoadSlot, hasExtensionServerPart, isConfinedExtension } from './extension-load-state.ts';

export interface ExtensionReloadPlan {
  /** Extensions that keep running. */
  readonly kept: readonly ExtensionLoadSlot[];
  /** Loaded now and to be unloaded: changed, removed from disk, or to be tried again. */
  readonly toUnload: readonly ExtensionLoadSlot[];
  /** To be loaded, in the order of discovery. */
  readonly toLoad: readonly DiscoveredExtension[];
}

/** Extensions to load again although their files did not change. */
export interface ReloadRequest {
  /** Names of extensions that are loaded again in any case. */
  readonly names?: readonly string[];
  /**
   * Whether all failed extensions are tried again, since the cause may be outside of their files. If false, only extensions that
   * failed because of another extension are tried again, since an attempt may take long.
   */
  readonly retryFailed?: boolean;
}

/** Failures that depend on the other extensions. */
const DEPENDS_ON_OTHERS: ReadonlySet<string> = new Set<ReasonCode>([
  'AMBIGUOUS_ENDPOINT',
  'AMBIGUOUS_HOOK',
  'AMBIGUOUS_OPERATION',
  'ROUTE_COLLISION',
  'OPERATION_COLLISION',
]);

/** Plans a load from what runs now. `broken` has the ids of extensions that failed after they were loaded. */
export function createExtensionReloadPlan(
  running: ReadonlyMap<string, ExtensionLoadSlot>,
  all: readonly DiscoveredExtension[],
  { names = [], retryFailed = false }: ReloadRequest,
  broken: { has(id: string): boolean },
): ExtensionReloadPlan {
  const isSettled = (slot: ExtensionLoadSlot): boolean => {
    const codes = [slot.failure?.code, ...(slot.loaded?.entries ?? []).map(({ reason }) => reason?.code)].filter(
      (code) => code !== undefined,
    );
    return retryFailed
      ? codes.length === 0 && !broken.has(slot.extension.id)
      : !codes.some((code) => DEPENDS_ON_OTHERS.has(code));
  };
  const isSame = (extension: DiscoveredExtension): boolean => {
    const slot = running.get(extension.id);
    return (
      slot !== undefined &&
      slot.extension.revision === extension.revision &&
      isSettled(slot) &&
      !names.includes(extension.name)
    );
  };
  const ids = new Set(all.map(({ id }) => id));
  // What an extension added is removed by its name, so extensions of one name are unloaded and loaded together.
  const changedNames = new Set([
    ...all
      .filter((extension) => !isSame(extension))
      .flatMap((extension) => [extension.name, running.get(extension.id)?.extension.name]),
    ...[...running.values()].filter(({ extension }) => !ids.has(extension.id)).map(({ extension }) => extension.name),
  ]);
  const isKept = (extension: DiscoveredExtension): boolean => isSame(extension) && !changedNames.has(extension.name);
  const kept = all.filter(isKept).map(({ id }) => running.get(id) as ExtensionLoadSlot);
  return {
    kept,
    toUnload: [...running.values()].filter((slot) => !kept.includes(slot)),
    toLoad: all.filter((extension) => !isKept(extension)),
  };
}

/**
 * Whether code with full authority is added or removed: then names of confined extensions may be taken or free again.
 */
export const changesFullAuthority = ({ toUnload, toLoad }: ExtensionReloadPlan): boolean =>
  [...toUnload.map(({ extension }) => extension), ...toLoad].some(
    (extension) => !isConfinedExtension(extension) && hasExtensionServerPart(extension),
  );
