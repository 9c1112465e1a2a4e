import { isDeepStrictEqual } from 'node:util';
import { type Caller, fail, type Log } from '#kernel';
import type { Activity } from '../activity/contract.ts';
import type { Subjects } from '../broker/contract.ts';
import type { Db } from '../database/contract.ts';
import type { ExtensionSettings } from '../extension-settings/contract.ts';
import type { DiscoveredExtension, ExtensionLoader, PackageConsent } from '../extensions/contract.ts';
import { createPluginId, isConfined, LoadFailure } from '../extensions/library.ts';
import { type ConsentCandidate, type ConsentConfig, findAdditions } from './additions.ts';
import { toPluginGrants, toRequestedGrants } from './requested-grants.ts';
import { createAgreements } from './store.ts';

/** A package that waits for an administrator. */
export interface WaitingPackage {
  readonly name: string;
  readonly version: string;
  /** What is added to what it may do, in sentences. */
  readonly asks: readonly string[];
}

/**
 * Whether confined packages and plugins may have what they ask for. Installing one is consent to what it declares
 * (EXTENSIONS_CONSENT `first-use`), unless even that is to be asked (`always`) or nothing is (`off`). A version that asks
 * for more waits for an administrator; one that asks for the same or less loads. What a package declares now is what
 * is remembered, so that one which gave something up asks again before it has it back. To be confined no longer, or to run
 * in the browser as well, is to ask for more; so it is under another name at the same place.
 */
export interface Consent extends PackageConsent {
  readonly waiting: () => readonly WaitingPackage[];
  /**
   * Allows what `check` was last asked for, by name, and loads the package. INVALID_PAYLOAD where nothing waits, or where
   * what waits is not what was read: `asks`, if given.
   */
  agree(caller: Caller, name: string, asks?: unknown): Promise<WaitingPackage>;
}

interface PendingCandidate extends WaitingPackage, ConsentCandidate {}

interface ConsentDeps {
  readonly db: Db;
  readonly config: ConsentConfig;
  readonly subjects: Subjects;
  readonly settings: ExtensionSettings;
  readonly activity: Activity;
  readonly loader: Pick<ExtensionLoader, 'reload'>;
  readonly log: Log;
}

/** Under which name decisions are recorded; it is no collection. */
const ACTIVITY_COLLECTION = 'platform_extensions';

export function createConsent(deps: ConsentDeps): Consent {
  const { db, config, activity, log } = deps;
  const agreements = createAgreements(db);
  /** By place: two packages may have one name. */
  const pending = new Map<string, PendingCandidate>();

  async function checkCandidate(one: ConsentCandidate): Promise<LoadFailure | undefined> {
    const { name, version, locationId, requested, needsFirstConsent } = one;
    pending.delete(locationId);
    if (config.EXTENSIONS_CONSENT === 'off') {
      if (needsFirstConsent) await agreements.put({ name, locationId }, { version, requested }, null);
      return undefined;
    }
    const asks = await findAdditions(one, agreements, deps);
    if (asks.length === 0) return undefined;
    pending.set(locationId, { ...one, asks });
    const detail = `It asks for what nobody agreed to yet: ${asks.join('; ')}.`;
    return new LoadFailure(
      'CONSENT_REQUIRED',
      `${detail} An administrator decides: POST its name to extensions/consent.`,
    );
  }

  async function check(found: DiscoveredExtension): Promise<LoadFailure | undefined> {
    const { id: place, name, version = '', manifest } = found;
    const isHeld = isConfined(found);
    pending.delete(place);
    if (isHeld && !manifest) return new LoadFailure('MANIFEST_INVALID', 'The package has no manifest.');
    return checkCandidate({
      name,
      version,
      locationId: place,
      needsFirstConsent: isHeld,
      isPlugin: false,
      requested: toRequestedGrants(found, deps.settings),
    });
  }

  /** Nothing of this kind waits but what lies at these places. */
  function retainPending(isPlugin: boolean, places: ReadonlySet<string>): void {
    for (const one of pending.values()) {
      if (one.isPlugin === isPlugin && !places.has(one.locationId)) pending.delete(one.locationId);
    }
  }

  return {
    check,
    checkPlugin: ({ name, version, folder }, authorities) =>
      checkCandidate({
        name,
        version,
        locationId: createPluginId(folder),
        requested: toPluginGrants(authorities),
        isPlugin: true,
        needsFirstConsent: true,
      }),
    waiting: () => [...pending.values()].map(({ name, version, asks }) => ({ name, version, asks })),
    retainOnly: (all) => retainPending(false, new Set(all.map(({ id }) => id))),
    retainOnlyPlugins: (folders) => retainPending(true, new Set(folders.map(createPluginId))),
    async agree(caller, name, read) {
      const [one, ...others] = [...pending.values()].filter((waiting) => waiting.name === name);
      if (!one) throw fail('INVALID_PAYLOAD', `"${name.slice(0, 255)}" waits for no consent.`);
      if (others.length > 0)
        throw fail('INVALID_PAYLOAD', `Several packages are called "${name}"; remove all but one.`);
      const { version, requested, asks, locationId } = one;
      if (read !== undefined && !isDeepStrictEqual(read, asks))
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
