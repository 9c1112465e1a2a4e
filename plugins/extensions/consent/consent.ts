import { isDeepStrictEqual } from 'node:util';
import { type Caller, fail } from '#kernel';
import { grantsByEntry } from '../confined/grants.ts';
import type { Deps } from '../deps.ts';
import { type Found, LoadFailure } from '../model.ts';
import { type Agreement, type Asked, createAgreements } from './store.ts';
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
 * is remembered, so that one which gave something up asks again before it has it back.
 */
export interface Consent {
  /** CONSENT_REQUIRED with what is added, or undefined where it may load. */
  readonly check: (found: Found) => Promise<LoadFailure | undefined>;
  readonly waiting: () => readonly Waiting[];
  /** Allows what `check` was last asked for, by name, and loads the package; INVALID_PAYLOAD where nothing waits. */
  agree(caller: Caller, name: string): Promise<Waiting>;
}

interface Pending extends Waiting {
  readonly asked: Asked;
}

type ConsentDeps = Pick<Deps, 'db' | 'config' | 'subjects' | 'settings' | 'activity' | 'running' | 'log'>;

/** Under which name decisions are recorded; it is no collection. */
const SUBJECT = 'platform_extensions';

export function createConsent(deps: ConsentDeps): Consent {
  const { db, config, subjects, activity, log } = deps;
  const agreements = createAgreements(db);
  /** By what was found: two packages may have one name. */
  const pending = new Map<string, Pending>();

  async function judge(name: string, now: Agreement): Promise<readonly string[]> {
    const isFirst = async () => config.EXTENSIONS_CONSENT === 'first-use' && (await agreements.first(name, now));
    const before = (await agreements.find(name)) ?? ((await isFirst()) ? now : await agreements.find(name));
    if (!before) return sentencesOf(now.asked, subjects);
    const asks = wideningOf(before.asked, now.asked, subjects);
    if (asks.length === 0 && !isDeepStrictEqual(before, now)) await agreements.put(name, now, null);
    return asks;
  }

  async function check(found: Found): Promise<LoadFailure | undefined> {
    const { id, name, version = '', manifest } = found;
    pending.delete(id);
    if (!manifest) return new LoadFailure('MANIFEST_INVALID', 'The package has no manifest.');
    const entries = Object.fromEntries(grantsByEntry(manifest, deps.settings));
    const asked: Asked = JSON.parse(JSON.stringify({ entries, stateful: manifest.stateful === true }));
    if (config.EXTENSIONS_CONSENT === 'off') {
      await agreements.put(name, { version, asked }, null);
      return undefined;
    }
    const asks = await judge(name, { version, asked });
    if (asks.length === 0) return undefined;
    pending.set(id, { name, version, asked, asks });
    const first = `It asks for what nobody agreed to yet: ${asks.join('; ')}.`;
    return new LoadFailure('CONSENT_REQUIRED', `${first} An administrator decides.`);
  }

  return {
    check,
    waiting: () => [...pending.values()].map(({ name, version, asks }) => ({ name, version, asks })),
    async agree(caller, name) {
      const [one, ...others] = [...pending.values()].filter((waiting) => waiting.name === name);
      if (!one) throw fail('INVALID_PAYLOAD', `"${name.slice(0, 255)}" waits for no consent.`);
      if (others.length > 0)
        throw fail('INVALID_PAYLOAD', `Several packages are called "${name}"; remove all but one.`);
      const { version, asked, asks } = one;
      await db.transaction(async () => {
        await agreements.put(name, { version, asked }, caller.user);
        const comment = `Version ${version}: ${asks.join('; ')}`;
        await activity.record(caller, { action: 'consent', collection: SUBJECT, item: name.slice(0, 255), comment });
      });
      log.info({ extension: name, version, asks }, `an administrator agreed to what ${name} asks for`);
      await deps.running.again([name]);
      return { name, version, asks };
    },
  };
}
