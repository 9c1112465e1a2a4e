import type { DiscoveredExtension, ManifestDeps, ReasonCode } from '../../extensions/contract.ts';
import { LoadFailure, listServerBundleEntries, openPackageFileReader } from '../../extensions/library.ts';
import type { ConfinedScriptText, Sandbox } from '../../sandbox/contract.ts';
import { GuestFailure } from '../../sandbox/library.ts';
import { buildConfinedScript } from './build-script.ts';
import { type ConfinedContribution, matchContributions } from './contributions.ts';
import { rereadManifest } from './reread-manifest.ts';
import { assertNoForbiddenUses, listServerSources } from './scan-package-sources.ts';
import { NO_SOURCE_POSITIONS, type SourcePositions } from './source-positions.ts';

/** A package that passed the gate, ready to load. No file of the package is read after this. */
export interface PackagePastLoadGate {
  readonly extension: DiscoveredExtension;
  readonly version: string;
  readonly script: ConfinedScriptText;
  readonly positions: SourcePositions;
  readonly contributions: readonly ConfinedContribution[];
  /** Whether one context serves several calls, as the manifest declares by `stateful`. */
  readonly isStateful: boolean;
}

export interface GateDeps extends ManifestDeps {
  readonly sandbox: Pick<Sandbox, 'probe' | 'maxArtifact'>;
  /** Answers the failure of a package that may not load without an admin's consent; undefined if the package has consent. */
  readonly consent: (extension: DiscoveredExtension) => Promise<LoadFailure | undefined>;
}

/**
 * Runs the checks that a confined package must pass before anything of it is registered, in this order (conventions, "Load
 * gate"): manifest, consent, sources, built entry, a run without any handler. It fails closed: a package that does not pass every
 * check never loads, and never loads with full authority either.
 * @throws LoadFailure
 */
export async function runConfinedPackageGate(
  extension: DiscoveredExtension,
  deps: GateDeps,
): Promise<PackagePastLoadGate> {
  try {
    const { manifest, version, built } = await rereadManifest(extension, deps);
    const refused = await deps.consent(extension);
    if (refused) throw refused;
    const files = await openPackageFileReader(extension.folder);
    await assertNoForbiddenUses(files, listServerSources(manifest));
    const isStateful = manifest.stateful === true;
    if (manifest.type === 'bundle' && listServerBundleEntries(manifest).length === 0) {
      return { extension, version, script: '', positions: NO_SOURCE_POSITIONS, contributions: [], isStateful };
    }
    const { script, positions } = await buildConfinedScript(files, built, deps.sandbox.maxArtifact());
    const contributions = matchContributions(extension.name, manifest, await deps.sandbox.probe(script));
    return { extension, version, script, positions, contributions, isStateful };
  } catch (error) {
    throw toLoadFailure(error);
  }
}

const PROBE_FAILURES: Readonly<Record<string, readonly [ReasonCode, string]>> = {
  'invalid-entry': ['INVALID_ENTRY', 'The built entry fails when it is evaluated, or exports no contract object.'],
  'guest-error': ['INVALID_ENTRY', 'The built entry fails when it is evaluated.'],
  'invalid-result': ['INVALID_ENTRY', 'The built entry exports no contract object.'],
  'identity-mismatch': ['IDENTITY_MISMATCH', 'The built entry is not what its manifest declares.'],
  'cpu-limit': ['TIMEOUT', 'The built entry takes too long to evaluate. Do the work in the handler.'],
  timeout: ['TIMEOUT', 'The built entry takes too long to evaluate. Do the work in the handler.'],
  crash: ['CRASH', 'The process that evaluated the built entry died. Do less when it is loaded.'],
};

function toLoadFailure(error: unknown): LoadFailure {
  if (error instanceof LoadFailure) return error;
  const known = error instanceof GuestFailure ? PROBE_FAILURES[error.code] : undefined;
  if (known) return new LoadFailure(known[0], known[1], { cause: error });
  return new LoadFailure('VALIDATION_INCOMPLETE', 'It could not be validated. See the log of the service.', {
    cause: error,
  });
}
