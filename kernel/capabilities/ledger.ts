import { requestScope } from '../context.ts';

export type LedgerKind = 'system' | 'denied' | 'remote';

export interface LedgerEntry {
  readonly kind: LedgerKind;
  readonly plugin: string;
  readonly what: string;
  readonly count: number;
  readonly lastRequest: string | undefined;
  readonly lastAt: string;
}

/** For each plugin or package: one that makes many different entries pushes out its own, which are still counted. */
const MAX_ENTRIES = 500;
export const OTHERS = 'others, which were too many to name';

/** Who acted without a user, and who was refused what, since start: bounded counters, not a history. */
export class Ledger {
  readonly #entries = new Map<string, Map<string, LedgerEntry>>();

  record(kind: LedgerKind, plugin: string, what: string): void {
    let own = this.#entries.get(plugin);
    if (!own) {
      own = new Map();
      this.#entries.set(plugin, own);
    }
    const key = `${kind}\0${what}`;
    const before = own.get(key);
    own.delete(key);
    if (own.size >= MAX_ENTRIES) fold(own);
    own.set(key, {
      kind,
      plugin,
      what,
      count: (before?.count ?? 0) + 1,
      lastRequest: requestScope.getStore()?.id,
      lastAt: new Date().toISOString(),
    });
  }

  entries(): readonly LedgerEntry[] {
    return [...this.#entries.values()].flatMap((own) => [...own.values()]);
  }
}

/** The oldest entry goes, and is counted with others of its kind: what somebody did is not hidden by doing more. */
function fold(own: Map<string, LedgerEntry>): void {
  for (const [key, entry] of own) {
    if (entry.what === OTHERS) continue;
    own.delete(key);
    const into = `${entry.kind}\0${OTHERS}`;
    own.set(into, { ...entry, what: OTHERS, count: (own.get(into)?.count ?? 0) + entry.count });
    return;
  }
}
