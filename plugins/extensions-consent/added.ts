import { isDeepStrictEqual } from 'node:util';
import type { Subjects } from '../broker/contract.ts';
import type { Asked } from './asked.ts';
import type { Agreement, Agreements } from './store.ts';
import { sentencesOf, wideningOf } from './widening.ts';

/** As the manifest declares them. */
export interface ConsentConfig {
  readonly EXTENSIONS_CONSENT: 'first-use' | 'always' | 'off';
}

/** A package as consent sees it. */
export interface Candidate {
  readonly name: string;
  readonly version: string;
  /** A uuid made of where it lies. */
  readonly place: string;
  readonly asked: Asked;
  readonly isPlugin: boolean;
  /** Asked about from its first version on; without it only where it takes the place of a package that was. */
  readonly isHeld: boolean;
}

interface Deps {
  readonly config: ConsentConfig;
  readonly subjects: Subjects;
}

/** Sentences of what the package asks for and was not allowed before; empty where it may load, which is then remembered. */
export async function addedBy(one: Candidate, agreements: Agreements, deps: Deps): Promise<readonly string[]> {
  const { name, place, version, asked } = one;
  const now = { version, asked };
  const all = await agreedBefore(one, now, agreements, deps.config);
  if (all === 'first use') return [];
  if (all.length === 0) return sentencesOf(asked, deps.subjects);
  const asks = new Set(all.flatMap((agreed) => wideningOf(agreed.asked, asked, deps.subjects)));
  const isKnown = all.length === 1 && isDeepStrictEqual(all[0], now);
  if (asks.size === 0 && !isKnown) await agreements.put({ name, place }, now, null);
  return [...asks];
}

async function agreedBefore(
  { name, place, isHeld }: Candidate,
  now: Agreement,
  agreements: Agreements,
  config: ConsentConfig,
): Promise<readonly Agreement[] | 'first use'> {
  if (!isHeld) {
    const all = await agreements.findAt(place);
    return all.length > 0 ? all : 'first use';
  }
  const all = await agreements.find({ name, place });
  if (all.length > 0 || config.EXTENSIONS_CONSENT !== 'first-use') return all;
  return (await agreements.first({ name, place }, now)) ? 'first use' : agreements.find({ name, place });
}
