import { isDeepStrictEqual } from 'node:util';
import { type Caller, fail, type Log } from '#kernel';
import type { Activity } from '../activity/contract.ts';
import type { Subjects } from '../broker/contract.ts';
import type { Db } from '../database/contract.ts';
import type { ExtensionSettings } from '../extension-settings/contract.ts';
import type { ExtensionLoader, Found, PackageConsent } from '../extensions/contract.ts';
import { isConfined, LoadFailure, pluginPlace } from '../extensions/library.ts';
import { addedBy, type Candidate, type ConsentConfig } from './added.ts';
import { askedOf, askedOfPlugin } from './asked.ts';
import { createAgreements } from './store.ts';

/** A package that waits for an administrator. */
export interface Waiting {
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
  readonly waiting: () => readonly Waiting[];
  /**
   * Allows what `check` was last asked for, by name, and loads the package. INVALID_PAYLOAD where nothing waits, or where
   * what waits is not what was read: `asks`, if given.
   */
  agree(caller: Caller, name: string, asks?: unknown): Promise<Waiting>;
}

interface Pending extends Waiting, Candidate {}

interface ConsentDeps {
  readonly db: Db;
  readonly config: ConsentConfig;
  readonly subjects: Subjects;
  readonly settings: ExtensionSettings;
  readonly activity: Activity;
  readonly loader: Pick<ExtensionLoader, 'again'>;
  readonly log: Log;
}

/** Under which name decisions are recorded; it is no collection. */
const SUBJECT = 'platform_extensions';

export function createConsent(deps: ConsentDeps): Consent {
  const { db, config, activity, log } = deps;
  const agreements = createAgreements(db);
  /** By place: two packages may have one name. */
  const pending = new Map<string, Pending>();

  async function decide(one: Candidate): Promise<LoadFailure | undefined> {
    const { name, version, place, asked, isHeld } = one;
    pending.delete(place);
    if (config.EXTENSIONS_CONSENT === 'off') {
      if (isHeld) await agreements.put({ name, place }, { version, asked }, null);
      return undefined;
    }
    const asks = await addedBy(one, agreements, deps);
    if (asks.length === 0) return undefined;
    pending.set(place, { ...one, asks });
    const detail = `It asks for what nobody agreed to yet: ${asks.join('; ')}.`;
    return new LoadFailure(
      'CONSENT_REQUIRED',
      `${detail} An administrator decides: POST its name to extensions/consent.`,
    );
  }

  async function check(found: Found): Promise<LoadFailure | undefined> {
    const { id: place, name, version = '', manifest } = found;
    const isHeld = isConfined(found);
    pending.delete(place);
    if (isHeld && !manifest) return new LoadFailure('MANIFEST_INVALID', 'The package has no manifest.');
    return decide({ name, version, place, isHeld, isPlugin: false, asked: askedOf(found, deps.settings) });
  }

  /** Nothing of this kind waits but what lies at these places. */
  function forget(isPlugin: boolean, places: ReadonlySet<string>): void {
    for (const one of pending.values()) {
      if (one.isPlugin === isPlugin && !places.has(one.place)) pending.delete(one.place);
    }
  }

  return {
    check,
    checkPlugin: ({ name, version, folder }, authorities) =>
      decide({
        name,
        version,
        place: pluginPlace(folder),
        asked: askedOfPlugin(authorities),
        isPlugin: true,
        isHeld: true,
      }),
    waiting: () => [...pending.values()].map(({ name, version, asks }) => ({ name, version, asks })),
    keep: (all) => forget(false, new Set(all.map(({ id }) => id))),
    keepPlugins: (folders) => forget(true, new Set(folders.map(pluginPlace))),
    async agree(caller, name, read) {
      const [one, ...others] = [...pending.values()].filter((waiting) => waiting.name === name);
      if (!one) throw fail('INVALID_PAYLOAD', `"${name.slice(0, 255)}" waits for no consent.`);
      if (others.length > 0)
        throw fail('INVALID_PAYLOAD', `Several packages are called "${name}"; remove all but one.`);
      const { version, asked, asks, place } = one;
      if (read !== undefined && !isDeepStrictEqual(read, asks))
        throw fail('INVALID_PAYLOAD', `What "${name.slice(0, 255)}" asks for is not what was read.`);
      await db.transaction(async () => {
        await agreements.put({ name, place }, { version, asked }, caller.user);
        const comment = `Version ${version}: ${asks.join('; ')}`;
        await activity.record(caller, { action: 'consent', collection: SUBJECT, item: name.slice(0, 255), comment });
      });
      log.info({ extension: name, version, asks }, `an administrator agreed to what ${name} asks for`);
      await deps.loader.again([name]);
      return { name, version, asks };
    },
  };
}
