import { isDeepStrictEqual } from 'node:util';
import type { PackageEventFilterState } from '../extensions/contract.ts';
import type { PackageRequirement, RequirementStore } from './store.ts';

/**
 * What this process knows about packages, also removed ones: the stored requirements and the states of its own loads.
 */
export interface RequirementCache {
  all(): readonly PackageRequirement[];
  find(name: string): PackageRequirement | undefined;
  /** Whether the package is required: by an admin's decision, without one by the manifest or EXTENSIONS_MUST_LOAD. */
  isRequired(name: string): boolean;
  /** Takes over the state of a package. Members that are not known now keep their values. */
  learn(state: PackageEventFilterState): void;
  /** Replaces everything by the stored requirements. @throws SERVICE_UNAVAILABLE */
  read(): Promise<void>;
  /** Stores what was learned about packages that are required or have a decision. @throws SERVICE_UNAVAILABLE */
  write(): Promise<void>;
}

export function createRequirementCache(store: RequirementStore, mustLoad: ReadonlySet<string>): RequirementCache {
  const known = new Map<string, PackageRequirement>();
  /** The requirements that are in the database, as far as this process knows. */
  const stored = new Map<string, PackageRequirement>();
  const isRequired = (name: string): boolean => {
    const one = known.get(name);
    return one?.decision ?? (one?.declared === true || mustLoad.has(name));
  };
  return {
    all: () => [...known.values()],
    find: (name) => known.get(name),
    isRequired,
    learn({ id: place, name, declared, filters }) {
      const before = known.get(name);
      known.set(name, {
        name,
        place,
        decision: before?.decision ?? null,
        declared: declared ?? before?.declared ?? false,
        filters: filters ?? before?.filters ?? null,
      });
    },
    async read() {
      const all = await store.all();
      for (const map of [known, stored]) {
        map.clear();
        for (const one of all) map.set(one.name, one);
      }
    },
    async write() {
      for (const one of [...known.values()]) {
        const { name, decision } = one;
        const isKept = isRequired(name) || one.declared || decision !== null;
        if (!isKept) known.delete(name);
        if (isKept && !isDeepStrictEqual(stored.get(name), one)) {
          await store.put(one);
          stored.set(name, one);
        } else if (!isKept && stored.delete(name)) await store.remove(name);
      }
    },
  };
}
