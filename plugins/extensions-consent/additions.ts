import { isDeepStrictEqual } from 'node:util';
import type { Subjects } from '../broker/contract.ts';
import type { RequestedGrants } from './requested-grants.ts';
import type { Agreement, Agreements } from './store.ts';
import { describeRequest, describeWidening } from './widening.ts';

/** As the manifest declares them. */
export interface ConsentConfig {
  readonly EXTENSIONS_CONSENT: 'first-use' | 'always' | 'off';
}

/** A package as consent sees it. */
export interface ConsentCandidate {
  readonly name: string;
  readonly version: string;
  /** A uuid made of where it lies. */
  readonly locationId: string;
  readonly requested: RequestedGrants;
  readonly isPlugin: boolean;
  /** Asked about from its first version on; without it only where it takes the place of a package that was. */
  readonly needsFirstConsent: boolean;
}

interface Deps {
  readonly config: ConsentConfig;
  readonly subjects: Subjects;
}

/** Sentences of what the package asks for and was not allowed before; empty where it may load, which is then remembered. */
export async function findAdditions(
  one: ConsentCandidate,
  agreements: Agreements,
  deps: Deps,
): Promise<readonly string[]> {
  const { name, locationId, version, requested } = one;
  const now = { version, requested };
  const all = await findAgreements(one, now, agreements, deps.config);
  if (all === 'first use') return [];
  if (all.length === 0) return describeRequest(requested, deps.subjects);
  const asks = new Set(all.flatMap((agreed) => describeWidening(agreed.requested, requested, deps.subjects)));
  const isKnown = all.length === 1 && isDeepStrictEqual(all[0], now);
  if (asks.size === 0 && !isKnown) await agreements.put({ name, locationId }, now, null);
  return [...asks];
}

async function findAgreements(
  { name, locationId, needsFirstConsent }: ConsentCandidate,
  now: Agreement,
  agreements: Agreements,
  config: ConsentConfig,
): Promise<readonly Agreement[] | 'first use'> {
  if (!needsFirstConsent) {
    const all = await agreements.findByLocation(locationId);
    return all.length > 0 ? all : 'first use';
  }
  const all = await agreements.find({ name, locationId });
  if (all.length > 0 || config.EXTENSIONS_CONSENT !== 'first-use') return all;
  return (await agreements.putFirst({ name, locationId }, now)) ? 'first use' : agreements.find({ name, locationId });
}
