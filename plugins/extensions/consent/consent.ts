import { isDeepStrictEqual } from 'node:util';
import { type Caller, fail } from '#kernel';
import type { Deps } from '../deps.ts';
import { isConfined } from '../load/slot.ts';
import { type Found, LoadFailure } from '../model.ts';
import { type Asked, askedOf } from './asked.ts';
import { type Agreement, createAgreements } from './store.ts';
import { sentencesOf, wideningOf } from './widening.ts';

/** A package that waits for an administrator. */
export interface Waiting {
  readonly name: string;
  readonly version: string;
  /** What is added to what it may do, in sentences. */
  readonly asks: readonly string[];
}

/**
 * Whether confined packages may have what they ask for. Installing one is consent to what it declares
 * (EXTENSIONS_CONSENT `first-use`), unless even that is to be asked (`always`) or nothing is (`off`). A version that asks
 * for more waits for an administrator; one that asks for the same or less loads. What a package declares now is what
 * is remembered, so that one which gave something up asks again before it has it back. To be confined no longer, or to run
 * in the browser as well, is to ask for more; so it is under another name at the same place.
 */
export interface Consent {
  /**
   * CONSENT_REQUIRED with what is added, or undefined where it may load. Code with full authority and code for the browser
   * are asked about where they take the place of a confined package, and else left to who installs them.
   */
  readonly check: (found: Found) => Promise<LoadFailure | undefined>;
  /** These are all that there are: nothing else waits any more. */
  keep(all: readonly Found[]): void;
  readonly waiting: () => readonly Waiting[];
  /**
   * Allows what `check` was last asked for, by name, and loads the package. INVALID_PAYLOAD where nothing waits, or where
   * what waits is not what was read: `asks`, if given.
   */
  agree(caller: Caller, name: string, asks?: unknown): Promise<Waiting>;
}

interface Pending extends Waiting {
  readonly asked: Asked;
  readonly place: string;
}

type ConsentDeps = Pick<Deps, 'db' | 'config' | 'subjects' | 'settings' | 'activity' | 'running' | 'log'>;

/** Under which name decisions are recorded; it is no collection. */
const SUBJECT = 'platform_extensions';

export function createConsent(deps: ConsentDeps): Consent {
  const { db, config, subjects, activity, log } = deps;
  const agreements = createAgreements(db);
  /** By what was found: two packages may have one name. */
  const pending = new Map<string, Pending>();

  async function before(found: Found, now: Agreement): Promise<readonly Agreement[] | 'nobody asks'> {
    const { name, id: place } = found;
    if (!isConfined(found)) {
      const all = await agreements.findAt(place);
      return all.length > 0 ? all : 'nobody asks';
    }
    const all = await agreements.find({ name, place });
    if (all.length > 0 || config.EXTENSIONS_CONSENT !== 'first-use') return all;
    return (await agreements.first({ name, place }, now)) ? 'nobody asks' : agreements.find({ name, place });
  }

  async function judge(found: Found, now: Agreement): Promise<readonly string[]> {
    const all = await before(found, now);
    if (all === 'nobody asks') return [];
    if (all.length === 0) return sentencesOf(now.asked, subjects);
    const asks = new Set(all.flatMap((one) => wideningOf(one.asked, now.asked, subjects)));
    const isKnown = all.length === 1 && isDeepStrictEqual(all[0], now);
    if (asks.size === 0 && !isKnown) await agreements.put({ name: found.name, place: found.id }, now, null);
    return [...asks];
  }

  async function check(found: Found): Promise<LoadFailure | undefined> {
    const { id, name, version = '', manifest } = found;
    pending.delete(id);
    if (isConfined(found) && !manifest) return new LoadFailure('MANIFEST_INVALID', 'The package has no manifest.');
    const asked = askedOf(found, deps.settings);
    if (config.EXTENSIONS_CONSENT === 'off') {
      if (isConfined(found)) await agreements.put({ name, place: id }, { version, asked }, null);
      return undefined;
    }
    const asks = await judge(found, { version, asked });
    if (asks.length === 0) return undefined;
    pending.set(id, { name, version, asked, asks, place: id });
    const first = `It asks for what nobody agreed to yet: ${asks.join('; ')}.`;
    return new LoadFailure(
      'CONSENT_REQUIRED',
      `${first} An administrator decides: POST its name to extensions/consent.`,
    );
  }

  return {
    check,
    waiting: () => [...pending.values()].map(({ name, version, asks }) => ({ name, version, asks })),
    keep(all) {
      const ids = new Set(all.map(({ id }) => id));
      for (const id of pending.keys()) if (!ids.has(id)) pending.delete(id);
    },
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
      await deps.running.again([name]);
      return { name, version, asks };
    },
  };
}
