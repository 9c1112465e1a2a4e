import { AsyncLocalStorage } from 'node:async_hooks';
import type { AnswerSources, StatementSources } from '../../query/contract.ts';

const storage = new AsyncLocalStorage<AnswerCollector>();

/** The collector of the request that the running code serves. */
export const findAnswerCollector = (): AnswerCollector | undefined => storage.getStore();

/** Whether callers with equal permissions share an answer, or only those of one role, or only one user's requests. */
export type AnswerScope = 'shared' | 'role' | 'user';

/** What the answer of one request is made of. */
export class AnswerCollector implements AnswerSources {
  readonly tables = new Set<string>();
  readonly events = new Set<string>();
  hasWritten = false;
  #scope: AnswerScope = 'shared';
  #isComplete = false;
  #isUncacheable = false;
  #keptUntilExpired: readonly string[] | undefined;

  get scope(): AnswerScope {
    return this.#scope;
  }

  /** Whether the answer depends on nothing but what was collected, and on at least one table. */
  get isCacheable(): boolean {
    if (this.#keptUntilExpired) return true;
    return this.#isComplete && !this.#isUncacheable && !this.hasWritten && this.tables.size > 0;
  }

  /** The tables whose changes forget an answer that is otherwise kept until it expires; undefined for all other answers. */
  get keptUntilExpired(): readonly string[] | undefined {
    return this.#keptUntilExpired;
  }

  /** Runs `work`, whose reads are collected. */
  collect<T>(work: () => T): T {
    return storage.run(this, work);
  }

  addStatement({ tables, user, role, time }: StatementSources): void {
    for (const table of tables) this.tables.add(table);
    if (user) this.#scope = 'user';
    else if (role && this.#scope === 'shared') this.#scope = 'role';
    if (time) this.#isUncacheable = true;
  }

  addEvents(names: readonly string[]): void {
    for (const name of names) this.events.add(name);
  }

  markComplete(): void {
    this.#isComplete = true;
  }

  keepUntilExpired(tables: readonly string[]): void {
    this.#keptUntilExpired = tables;
    this.#scope = 'user';
  }

  markUncacheable(): void {
    this.#isUncacheable = true;
  }

  markWrite(): void {
    this.hasWritten = true;
  }
}
