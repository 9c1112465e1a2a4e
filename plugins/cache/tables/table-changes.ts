/**
 * The order of changes in this process. An answer may be stored where none of its tables has changed since its read began, and used
 * where none has changed since.
 */
export class TableChanges {
  #clock = 0;
  /** Everything may have changed at this time. */
  #resetAt = 0;
  /** The time of the last change by the oid of the table. Tables without a trigger are not here, so there are few. */
  readonly #changedAt = new Map<number, number>();

  get now(): number {
    return this.#clock;
  }

  /** The next moment, later than every answer whose read has begun. */
  advance(): number {
    return ++this.#clock;
  }

  record(relation: number): void {
    this.#changedAt.set(relation, ++this.#clock);
  }

  /** All tables may have changed: after a lost connection, a change of the schema, or a request to forget everything. */
  recordAll(): void {
    this.#changedAt.clear();
    this.#resetAt = ++this.#clock;
  }

  isUnchangedSince(time: number, relations: readonly number[]): boolean {
    if (time < this.#resetAt) return false;
    for (const relation of relations) if ((this.#changedAt.get(relation) ?? 0) > time) return false;
    return true;
  }
}
