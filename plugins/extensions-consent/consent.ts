import { isDeepStrictEqual } from 'node:util';
import { type Caller, fail, type Log } from '#kernel';
import type { HistoryRecorder } from '../activity/contract.ts';
import type { PackageGrantBroker } from '../broker/contract.ts';
import type { Db } from '../database/contract.ts';
import type { ExtensionSettings } from '../extension-settings/contract.ts';
import type { DiscoveredExtension, ExtensionStatusControl, PackageConsentDecider } from '../extensions/contract.ts';
import { hashPluginFolderToId, isConfinedExtension, LoadFailure } from '../extensions/library.ts';
import { toPluginGrants, toRequestedGrants } from './requested-grants.ts';
import { type ConsentCandidate, type ConsentConfig, findRequestsBeyondConsent } from './requests-beyond-consent.ts';
import { createConsentStore } from './store.ts';

/** A package that waits for an administrator's decision. */
export interface PackageWaitingForConsent {
  readonly name: string;
  readonly version: string;
  /** What it requests and may not do yet, in sentences. */
  readonly asks: readonly string[];
}

/**
 * Decides whether confined packages and plugins may have what they request. With EXTENSIONS_CONSENT `first-use`,
 * installing a package is consent to what it declares; with `always` the first version waits too; with `off` no package
 * waits. A version that requests more waits for an administrator; one that requests the same or less loads. The
 * service stores what a package requests now, so a package that dropped a request needs consent to have it back.
 * Leaving the confined runtime, adding browser code, or another name at the same location counts as requesting more.
 */
export interface AdminPackageConsent extends PackageConsentDecider {
  readonly waiting: () => readonly PackageWaitingForConsent[];
  /**
   * Agrees to what a waiting package requests, and loads it. `asks` are the sentences that the admin has read, if sent.
   * @throws INVALID_PAYLOAD if no package of this name waits, or if its sentences differ from `asks`.
   */
  agree(caller: Caller, name: string, asks?: unknown): Promise<PackageWaitingForConsent>;
}

interface PendingCandidate extends PackageWaitingForConsent, ConsentCandidate {}

interface ConsentDeps {
  readonly db: Db;
  readonly config: ConsentConfig;
  readonly subjects: PackageGrantBroker;
  readonly settings: ExtensionSettings;
  readonly activity: HistoryRecorder;
  readonly loader: Pick<ExtensionStatusControl, 'reload'>;
  readonly log: Log;
}

/** The `collection` of activity entries about consent; it is not a table. */
const ACTIVITY_COLLECTION = 'platform_extensions';

export function createAdminPackageConsent(deps: ConsentDeps): AdminPackageConsent {
  const { db, config, activity, log } = deps;
  const agreements = createConsentStore(db);
  /** Packages that wait for consent, by location id: two packages may have one name. */
  const pending = new Map<string, PendingCandidate>();

  async function checkCandidate(candidate: ConsentCandidate): Promise<LoadFailure | undefined> {
    const { name, version, locationId, requested, needsFirstConsent } = candidate;
    pending.delete(locationId);
    if (config.EXTENSIONS_CONSENT === 'off') {
      if (needsFirstConsent) await agreements.put({ name, locationId }, { version, requested }, null);
      return undefined;
    }
    const asks = await findRequestsBeyondConsent(candidate, agreements, deps);
    if (asks.length === 0) return undefined;
    pending.set(locationId, { ...candidate, asks });
    return createConsentRequired(asks);
  }

  async function check(extension: DiscoveredExtension): Promise<LoadFailure | undefined> {
    const { id: locationId, name, version = '', manifest } = extension;
    const isConfinedPackage = isConfinedExtension(extension);
    pending.delete(locationId);
    if (isConfinedPackage && !manifest) return new LoadFailure('MANIFEST_INVALID', 'The package has no manifest.');
    return checkCandidate({
      name,
      version,
      locationId,
      needsFirstConsent: isConfinedPackage,
      isPlugin: false,
      requested: toRequestedGrants(extension, deps.settings),
    });
  }

  /** Drops waiting packages of this kind that are not at these locations. */
  function retainPending(isPlugin: boolean, locations: ReadonlySet<string>): void {
    for (const candidate of pending.values()) {
      if (candidate.isPlugin === isPlugin && !locations.has(candidate.locationId)) pending.delete(candidate.locationId);
    }
  }

  return {
    check,
    checkPlugin: ({ name, version, folder }, authorities) =>
      checkCandidate({
        name,
        version,
        locationId: hashPluginFolderToId(folder),
        requested: toPluginGrants(authorities),
        isPlugin: true,
        needsFirstConsent: true,
      }),
    waiting: () => [...pending.values()].map(({ name, version, asks }) => ({ name, version, asks })),
    retainOnly: (all) => retainPending(false, new Set(all.map(({ id }) => id))),
    retainOnlyPlugins: (folders) => retainPending(true, new Set(folders.map(hashPluginFolderToId))),
    async agree(caller, name, readAsks) {
      const [candidate, ...others] = [...pending.values()].filter((waiting) => waiting.name === name);
      if (!candidate) throw fail('INVALID_PAYLOAD', `"${name.slice(0, 255)}" waits for no consent.`);
      if (others.length > 0)
        throw fail('INVALID_PAYLOAD', `Several packages are called "${name}"; remove all but one.`);
      const { version, requested, asks, locationId } = candidate;
      if (readAsks !== undefined && !isDeepStrictEqual(readAsks, asks))
        throw fail('INVALID_PAYLOAD', `What "${name.slice(0, 255)}" asks for is not what was read.`);
      await db.transaction(async () => {
        await agreements.put({ name, locationId }, { version, requested }, caller.user);
        const comment = `Version ${version}: ${asks.join('; ')}`;
        await activity.record(caller, {
          action: 'consent',
          collection: ACTIVITY_COLLECTION,
          item: name.slice(0, 255),
          comment,
        });
      });
      log.info({ extension: name, version, asks }, `an administrator agreed to what ${name} asks for`);
      await deps.loader.reload([name]);
      return { name, version, asks };
    },
  };
}

function createConsentRequired(asks: readonly string[]): LoadFailure {
  const detail = `It asks for what no administrator agreed to yet: ${asks.join('; ')}.`;
  return new LoadFailure(
    'CONSENT_REQUIRED',
    `${detail} An administrator decides: POST its name to extensions/consent.`,
  );
}
