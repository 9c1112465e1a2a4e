import type { DiscoveredExtension, LoadedExtension, PackageConsentDecider } from '../extensions/contract.ts';
import type { LoadFailure } from '../extensions/library.ts';
import { findDuplicateContributions } from './duplicate-contributions.ts';
import type { PackagePastLoadGate } from './gate/gate.ts';
import type { ConfinedDeps } from './injected-services.ts';
import type { LoadedConfinedPackage } from './load-package.ts';

export type { PackagePastLoadGate };

export type ConfinedLoadPhase = 'operations' | 'endpoints' | 'hooks' | 'bundles';

/** Validates and loads confined packages. */
export interface ConfinedPackageLoader {
  /** Validates a package; registers nothing, and no file is read after this. @throws LoadFailure */
  passGate(found: DiscoveredExtension, consent: PackageConsentDecider['check']): Promise<PackagePastLoadGate>;
  /** Registers a package that passed the gate. The phase only orders the calls. */
  load(gated: PackagePastLoadGate, phase: ConfinedLoadPhase): Promise<LoadedExtension>;
  /**
   * Packages with an ambiguous contribution, by package id. Ambiguous entries of bundles are remembered: entries that
   * load later fail, entries that run are stopped.
   */
  findAmbiguous(all: readonly PackagePastLoadGate[]): ReadonlyMap<string, LoadFailure>;
}

export function createConfinedPackageLoader(deps: ConfinedDeps): ConfinedPackageLoader {
  let ambiguous: ReadonlyMap<string, LoadFailure> = new Map();
  const loaded = new Set<LoadedConfinedPackage>();

  return {
    passGate: async (found, consent) =>
      (await import('./gate/gate.ts')).runConfinedPackageGate(found, { ...deps, consent }),
    findAmbiguous(all) {
      ambiguous = findDuplicateContributions(all);
      for (const one of loaded) one.failAmbiguous(ambiguous);
      return ambiguous;
    },
    async load(gated) {
      const { loadConfinedPackage } = await import('./load-package.ts');
      const one = loadConfinedPackage(gated, ambiguous, deps);
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
