import type { PackageHandle } from '../broker/contract.ts';
import type { BundleEntryOutcome, LoadedExtension } from '../extensions/contract.ts';
import { findRequestedGrantsByEntry, LoadFailure } from '../extensions/library.ts';
import type { GuestProgram } from '../sandbox/contract.ts';
import { buildContributionId } from './duplicate-contributions.ts';
import type { ConfinedContribution } from './gate/contributions.ts';
import type { PackagePastLoadGate } from './gate/gate.ts';
import type { ConfinedDeps } from './injected-services.ts';
import { type RegisteredContribution, registerContribution } from './register-contribution.ts';

/** A confined package while it is loaded. */
export interface LoadedConfinedPackage extends LoadedExtension {
  readonly gated: PackagePastLoadGate;
  /** Stops the contributions of the package that have become ambiguous. */
  failAmbiguous(all: ReadonlyMap<string, LoadFailure>): void;
}

interface PackageEntry {
  readonly contribution: ConfinedContribution;
  contributed?: RegisteredContribution;
  failure?: LoadFailure;
}

/**
 * Loads a package that passed the gate: one program for the package, authority per contribution. A package with one
 * contribution fails with it; in a bundle the others load, and each entry has its own outcome.
 * @throws LoadFailure
 */
export function loadConfinedPackage(
  gated: PackagePastLoadGate,
  ambiguous: ReadonlyMap<string, LoadFailure>,
  deps: ConfinedDeps,
): LoadedConfinedPackage {
  const { extension, script, isStateful, contributions } = gated;
  const manifest = extension.manifest;
  if (!manifest) throw new LoadFailure('MANIFEST_INVALID', 'The package has no manifest.');
  const grants = findRequestedGrantsByEntry(manifest, deps.settings);
  const guests = new Map<'hooks' | 'open', GuestProgram>();
  // A program belongs to the whole package; each run names its authority. Hooks of a bundle have a process of their
  // own, so that many requests to its endpoints do not delay writes.
  const openGuest = (brokerAccess: PackageHandle, type: ConfinedContribution['type']): GuestProgram => {
    const kind = type === 'hook' ? 'hooks' : 'open';
    const existing = guests.get(kind);
    if (existing) return existing;
    const onParked = ({ detail }: { readonly detail: string }) =>
      deps.loader.reportFailed(extension.id, new LoadFailure('RUNTIME_CRASHED', detail));
    const guest = deps.sandbox.open({ brokerAccess, script, reuse: isStateful, kind, onParked });
    guests.set(kind, guest);
    return guest;
  };

  const entries = contributions.map((contribution): PackageEntry => {
    const failure = ambiguous.get(buildContributionId(gated, contribution));
    if (failure) return { contribution, failure };
    try {
      const allowed = grants.get(contribution.key) ?? {};
      return { contribution, contributed: registerContribution(gated, contribution, allowed, openGuest, deps) };
    } catch (error) {
      if (!(error instanceof LoadFailure))
        deps.log.error({ err: error, extension: extension.name }, `${extension.name} cannot be registered`);
      return { contribution, failure: toLoadFailure(error) };
    }
  });
  const [first] = entries;
  if (manifest.type !== 'bundle' && first?.failure) throw first.failure;

  return {
    gated,
    get entries() {
      return manifest.type === 'bundle' ? entries.map(toOutcome) : undefined;
    },
    get failures() {
      return entries.flatMap(({ contributed }) => contributed?.failures() ?? []);
    },
    failAmbiguous(all) {
      for (const entry of entries) {
        const failure = all.get(buildContributionId(gated, entry.contribution));
        if (!failure || entry.failure) continue;
        entry.contributed?.stop();
        entry.failure = failure;
      }
    },
    async remove() {
      for (const { contributed } of entries) contributed?.stop();
      for (const { contributed } of entries) contributed?.remove();
      await Promise.all([...guests.values()].map((guest) => guest.close()));
    },
  };
}

const toOutcome = ({ contribution, failure }: PackageEntry): BundleEntryOutcome => {
  const { type, id, capabilities } = contribution;
  return {
    name: id,
    type,
    status: failure ? 'failed' : 'loaded',
    ...(failure ? { reason: { code: failure.code, detail: failure.detail } } : {}),
    capabilities,
  };
};

const toLoadFailure = (error: unknown): LoadFailure =>
  error instanceof LoadFailure
    ? error
    : new LoadFailure('UNKNOWN', 'It could not be registered. See the log of the service.', { cause: error });
