import type { Admitted } from '../broker/contract.ts';
import type { EntryOutcome, Loaded } from '../extensions/contract.ts';
import { grantsByEntry, LoadFailure } from '../extensions/library.ts';
import type { Guest } from '../sandbox/contract.ts';
import { placeOf } from './ambiguity.ts';
import { type Contributed, contribute } from './contribute.ts';
import type { ConfinedDeps } from './deps.ts';
import type { Gated } from './gate/gate.ts';
import type { Contribution } from './gate/identity.ts';

/** A confined package while it is loaded. */
export interface LoadedPackage extends Loaded {
  readonly gated: Gated;
  /** Ends those of its contributions that can no longer be told from others. */
  clash(all: ReadonlyMap<string, LoadFailure>): void;
}

interface Entry {
  readonly contribution: Contribution;
  contributed?: Contributed;
  failure?: LoadFailure;
}

/**
 * Loads a package that passed the gate: one program for all of it, its authority per contribution. A package of one
 * contribution fails with it; in a bundle the others load, and the outcomes tell.
 */
export function loadPackage(
  gated: Gated,
  clashes: ReadonlyMap<string, LoadFailure>,
  deps: ConfinedDeps,
): LoadedPackage {
  const { found, script, reuse, contributions } = gated;
  const manifest = found.manifest;
  if (!manifest) throw new LoadFailure('MANIFEST_INVALID', 'The package has no manifest.');
  const grants = grantsByEntry(manifest, deps.settings);
  const guests = new Map<'hooks' | 'open', Guest>();
  // A program belongs to the whole package; each run says on whose authority it is. Hooks of a bundle have a process of
  // their own, so that a crowd at its endpoints holds up no write.
  const guestOf = (admitted: Admitted, type: Contribution['type']): Guest => {
    const kind = type === 'hook' ? 'hooks' : 'open';
    const opened = guests.get(kind);
    if (opened) return opened;
    const onParked = ({ detail }: { readonly detail: string }) =>
      deps.loader.failed(found.id, new LoadFailure('RUNTIME_CRASHED', detail));
    const guest = deps.sandbox.open({ admitted, script, reuse, kind, onParked });
    guests.set(kind, guest);
    return guest;
  };

  const entries = contributions.map((contribution): Entry => {
    const failure = clashes.get(placeOf(gated, contribution));
    if (failure) return { contribution, failure };
    try {
      const allowed = grants.get(contribution.key) ?? {};
      return { contribution, contributed: contribute(gated, contribution, allowed, guestOf, deps) };
    } catch (error) {
      if (!(error instanceof LoadFailure))
        deps.log.error({ err: error, extension: found.name }, `${found.name} cannot be registered`);
      return { contribution, failure: asFailure(error) };
    }
  });
  const [first] = entries;
  if (manifest.type !== 'bundle' && first?.failure) throw first.failure;

  return {
    gated,
    get entries() {
      return manifest.type === 'bundle' ? entries.map(outcomeOf) : undefined;
    },
    get failures() {
      return entries.flatMap(({ contributed }) => contributed?.failures() ?? []);
    },
    clash(all) {
      for (const entry of entries) {
        const failure = all.get(placeOf(gated, entry.contribution));
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

const outcomeOf = ({ contribution, failure }: Entry): EntryOutcome => {
  const { type, id, capabilities } = contribution;
  return {
    name: id,
    type,
    status: failure ? 'failed' : 'loaded',
    ...(failure ? { reason: { code: failure.code, detail: failure.detail } } : {}),
    capabilities,
  };
};

const asFailure = (error: unknown): LoadFailure =>
  error instanceof LoadFailure
    ? error
    : new LoadFailure('UNKNOWN', 'It could not be registered. See the log of the service.', { cause: error });
