import type { DiscoveredExtension, LoadedExtension, PackageConsent } from '../extensions/contract.ts';
import type { LoadFailure } from '../extensions/library.ts';
import { findAmbiguities } from './ambiguity.ts';
import type { ConfinedDeps } from './deps.ts';
import type { GatedPackage } from './gate/gate.ts';
import type { LoadedPackage } from './load-package.ts';

export type { GatedPackage };

export type ConfinedPhase = 'operations' | 'endpoints' | 'hooks' | 'bundles';

/** Confined packages: what lets them in, and what runs of them. */
export interface ConfinedPackages {
  /** LoadFailure where it may not be loaded. Nothing of it is registered, and nothing is read again after this. */
  passGate(found: DiscoveredExtension, consent: PackageConsent['check']): Promise<GatedPackage>;
  /** Registers what passed. The phase orders the calls; what is registered is what the package's type says. */
  load(gated: GatedPackage, phase: ConfinedPhase): Promise<LoadedExtension>;
  /**
   * Those among all that passed that cannot be told apart, by the package's id. Entries of bundles are kept in mind here:
   * those that are about to be loaded fail, those that run end.
   */
  findAmbiguous(all: readonly GatedPackage[]): ReadonlyMap<string, LoadFailure>;
}

export function createConfinedPackages(deps: ConfinedDeps): ConfinedPackages {
  let ambiguous: ReadonlyMap<string, LoadFailure> = new Map();
  const loaded = new Set<LoadedPackage>();

  return {
    passGate: async (found, consent) => (await import('./gate/gate.ts')).passGate(found, { ...deps, consent }),
    findAmbiguous(all) {
      ambiguous = findAmbiguities(all);
      for (const one of loaded) one.failAmbiguous(ambiguous);
      return ambiguous;
    },
    async load(gated) {
      const { loadPackage } = await import('./load-package.ts');
      const one = loadPackage(gated, ambiguous, deps);
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
