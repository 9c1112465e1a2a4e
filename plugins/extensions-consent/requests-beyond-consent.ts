import { isDeepStrictEqual } from 'node:util';
import type { PackageGrantBroker } from '../broker/contract.ts';
import type { RequestedGrants } from './requested-grants.ts';
import type { ConsentStore, PackageConsentRecord } from './store.ts';
import { describeRequestedGrants, describeWidenedGrants } from './widening.ts';

/** The settings of the plugin `extensions-consent`. */
export interface ConsentConfig {
  readonly EXTENSIONS_CONSENT: 'first-use' | 'always' | 'off';
}

/** A package whose consent is checked. */
export interface ConsentCandidate {
  readonly name: string;
  readonly version: string;
  /** A UUID computed from the location of the package. */
  readonly locationId: string;
  readonly requested: RequestedGrants;
  readonly isPlugin: boolean;
  /**
   * Whether the first version of the package needs consent (confined packages, plugins). If false, consent is needed only where
   * the package replaces one with a stored agreement.
   */
  readonly needsFirstConsent: boolean;
}

interface Deps {
  readonly config: ConsentConfig;
  readonly subjects: PackageGrantBroker;
}

/**
 * Sentences of what a package requests beyond the stored agreements. Empty if the package may load; then its requests are stored.
 */
export async function findRequestsBeyondConsent(
  candidate: ConsentCandidate,
  agreements: ConsentStore,
  deps: Deps,
): Promise<readonly string[]> {
  const { name, locationId, version, requested } = candidate;
  const current = { version, requested };
  const earlier = await findAgreements(candidate, current, agreements, deps.config);
  if (earlier === 'first use') return [];
  if (earlier.length === 0) return describeRequestedGrants(requested, deps.subjects);
  const asks = new Set(earlier.flatMap((agreed) => describeWidenedGrants(agreed.requested, requested, deps.subjects)));
  const isKnown = earlier.length === 1 && isDeepStrictEqual(earlier[0], current);
  if (asks.size === 0 && !isKnown) await agreements.put({ name, locationId }, current, null);
  return [...asks];
}

async function findAgreements(
  { name, locationId, needsFirstConsent }: ConsentCandidate,
  current: PackageConsentRecord,
  agreements: ConsentStore,
  config: ConsentConfig,
): Promise<readonly PackageConsentRecord[] | 'first use'> {
  if (!needsFirstConsent) {
    const earlier = await agreements.findByLocation(locationId);
    return earlier.length > 0 ? earlier : 'first use';
  }
  const earlier = await agreements.find({ name, locationId });
  if (earlier.length > 0 || config.EXTENSIONS_CONSENT !== 'first-use') return earlier;
  return (await agreements.putFirst({ name, locationId }, current))
    ? 'first use'
    : agreements.find({ name, locationId });
}
