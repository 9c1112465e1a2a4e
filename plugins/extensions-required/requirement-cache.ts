import { isDeepStrictEqual } from 'node:util';
import type { PackageState } from '../extensions/contract.ts';
import type { Requirement, RequirementStore } from './store.ts';

/** What this process knows of packages, present or gone: what the database remembers, and what it saw itself. */
export interface RequirementCache {
  all(): readonly Requirement[];
  find(name: string): Requirement | undefined;
  /** By an admin's decision, else by the manifest or EXTENSIONS_MUST_LOAD. */
  isRequired(name: string): boolean;
  /** What a package cannot say of itself now stays as it was. */
  learn(state: PackageState): void;
  /** Forgets everything but what the database remembers. @throws SERVICE_UNAVAILABLE */
  read(): Promise<void>;
  /** Stores what was learned of packages that are required or decided about. @throws SERVICE_UNAVAILABLE */
  write(): Promise<void>;
}

export function createRequirementCache(store: RequirementStore, mustLoad: ReadonlySet<string>): RequirementCache {
  const known = new Map<string, Requirement>();
  /** What of it is in the database, as far as this process knows. */
  const stored = new Map<string, Requirement>();
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
