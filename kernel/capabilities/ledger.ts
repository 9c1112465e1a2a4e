import { fail } from '../errors.ts';
import { requestScope } from '../request-scope.ts';

export type LedgerKind = 'system' | 'identity' | 'denied' | 'remote';

/** How often a plugin or package did one thing since start, and when last (ISO 8601, in UTC). */
export interface LedgerEntry {
  readonly kind: LedgerKind;
  readonly plugin: string;
  readonly what: string;
  readonly count: number;
  readonly lastRequest: string | undefined;
  readonly lastAt: string;
}

/** The mutable form of an entry, since callers are minted, and so counted, on every request. */
interface Counter extends Pick<LedgerEntry, 'kind' | 'what'> {
  count: number;
  lastRequest: string | undefined;
  /** Milliseconds since 1970. */
  lastAt: number;
}

/** Maximum of entries per plugin or package. The oldest are merged into `MERGED_LEDGER_ENTRIES_LABEL`, which keeps their counts. */
const MAX_ENTRIES = 500;
export const MERGED_LEDGER_ENTRIES_LABEL = 'others, which were too many to name';

/** Counts since start which plugin acted without a user, minted a caller or was denied: bounded counters, no history. */
export class Ledger {
  readonly #entries = new Map<string, Map<string, Counter>>();

  record(kind: LedgerKind, plugin: string, what: string): void {
    const own = this.#entries.get(plugin) ?? new Map<string, Counter>();
    if (own.size === 0) this.#entries.set(plugin, own);
    const key = `${kind}\0${what}`;
    const counter = own.get(key) ?? { kind, what, count: 0, lastRequest: undefined, lastAt: 0 };
    // The last written entry is last in the map, so that the first one is the oldest.
    own.delete(key);
    if (own.size >= MAX_ENTRIES) foldOldest(own);
    own.set(key, counter);
    counter.count++;
    counter.lastRequest = requestScope.getStore()?.id;
    counter.lastAt = Date.now();
  }

  /** Counts a denial and returns the error to throw: CAPABILITY_DENIED with the names of plugin and capability. */
  deny(capability: string, plugin: string, what: string): Error {
    this.record('denied', plugin, `${capability}: ${what}`);
    return fail('CAPABILITY_DENIED', `${plugin} may not ${what}: its manifest does not grant it (${capability})`);
  }

  entries(): readonly LedgerEntry[] {
    return [...this.#entries].flatMap(([plugin, own]) =>
      [...own.values()].map((one) => ({ ...one, plugin, lastAt: new Date(one.lastAt).toISOString() })),
    );
  }
}

/** Merges the oldest entry into `MERGED_LEDGER_ENTRIES_LABEL` of its kind, so that a plugin cannot hide an entry by making many. */
function foldOldest(own: Map<string, Counter>): void {
  for (const [key, oldest] of own) {
    if (oldest.what === MERGED_LEDGER_ENTRIES_LABEL) continue;
    own.delete(key);
    const into = `${oldest.kind}\0${MERGED_LEDGER_ENTRIES_LABEL}`;
    own.set(into, { ...oldest, what: MERGED_LEDGER_ENTRIES_LABEL, count: (own.get(into)?.count ?? 0) + oldest.count });
    return;
  }
}
