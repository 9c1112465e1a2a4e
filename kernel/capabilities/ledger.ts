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

const MAX_ENTRIES = 1000;

/** Who acted without a user, and who was refused what, since start: bounded counters, not a history. */
export class Ledger {
  readonly #entries = new Map<string, LedgerEntry>();

  record(kind: LedgerKind, plugin: string, what: string): void {
    const key = `${kind}\0${plugin}\0${what}`;
    const before = this.#entries.get(key);
    this.#entries.delete(key);
    if (this.#entries.size >= MAX_ENTRIES) this.#entries.delete(this.#entries.keys().next().value as string);
    this.#entries.set(key, {
      kind,
      plugin,
      what,
      count: (before?.count ?? 0) + 1,
      lastRequest: requestScope.getStore()?.id,
      lastAt: new Date().toISOString(),
    });
  }

  entries(): readonly LedgerEntry[] {
    return [...this.#entries.values()];
  }
}
