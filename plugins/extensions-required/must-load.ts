import { BootFailure } from '#kernel';
import type { PackageEventFilterState } from '../extensions/contract.ts';

/**
 * Events that the packages of this name declare to filter and do not filter now; `all` if such a package does not run. If several
 * have one name, all of them must be loaded.
 */
export function findMissingEventFilters(
  name: string,
  states: readonly PackageEventFilterState[],
): readonly string[] | 'all' {
  const own = states.filter((one) => one.name === name);
  if (own.length === 0 || own.some(({ missing }) => missing === 'all')) return 'all';
  return own.flatMap(({ missing }) => missing);
}

/** @throws BootFailure for the first package of EXTENSIONS_MUST_LOAD that is not loaded, with the reason of its row. */
export function assertMustLoadPackages(
  mustLoad: ReadonlySet<string>,
  states: readonly PackageEventFilterState[],
  reasons: ReadonlyMap<string, string>,
): void {
  const names = mustLoad.has('true') ? [...states.map(({ name }) => name), ...reasons.keys()] : [...mustLoad];
  for (const name of names) {
    const missing = findMissingEventFilters(name, states);
    if (missing !== 'all' && missing.length === 0) continue;
    const isFound = states.some((one) => one.name === name);
    const why = reasons.get(name) ?? (isFound ? 'it is not loaded' : 'no package of this name was found');
    throw new BootFailure(name, 'start', `EXTENSIONS_MUST_LOAD names it, and it did not load: ${why}`, {
      remedy: 'repair or install the package, take it out of EXTENSIONS_MUST_LOAD, or start with --safe',
    });
  }
}
