import type { Found, Loaded, PackageConsent } from '../extensions/contract.ts';
import type { LoadFailure } from '../extensions/library.ts';
import { ambiguities } from './ambiguity.ts';
import type { ConfinedDeps } from './deps.ts';
import type { Gated } from './gate/gate.ts';
import type { LoadedPackage } from './package.ts';

export type { Gated };

export type ConfinedPhase = 'operations' | 'endpoints' | 'hooks' | 'bundles';

/** Confined packages: what lets them in, and what runs of them. */
export interface Confined {
  /** LoadFailure where it may not be loaded. Nothing of it is registered, and nothing is read again after this. */
  gate(found: Found, consent: PackageConsent['check']): Promise<Gated>;
  /** Registers what passed. The phase orders the calls; what is registered is what the package's type says. */
  load(gated: Gated, phase: ConfinedPhase): Promise<Loaded>;
  /**
   * Those among all that passed that cannot be told apart, by the package's id. Entries of bundles are kept in mind here:
   * those that are about to be loaded fail, those that run end.
   */
  ambiguous(all: readonly Gated[]): ReadonlyMap<string, LoadFailure>;
}

export function createConfined(deps: ConfinedDeps): Confined {
  let clashes: ReadonlyMap<string, LoadFailure> = new Map();
  const loaded = new Set<LoadedPackage>();

  return {
    gate: async (found, consent) => (await import('./gate/gate.ts')).passGate(found, { ...deps, consent }),
    ambiguous(all) {
      clashes = ambiguities(all);
      for (const one of loaded) one.clash(clashes);
      return clashes;
    },
    async load(gated) {
      const { loadPackage } = await import('./package.ts');
      const one = loadPackage(gated, clashes, deps);
      loaded.add(one);
      return {
        get entries() {
          return one.entries;
        },
        get failures() {
          return one.failures;
        },
        async remove() {
          loaded.delete(one);
          await one.remove();
        },
      };
    },
  };
}
