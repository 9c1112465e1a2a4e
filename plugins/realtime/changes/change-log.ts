import type { AnnouncedChange } from '../../row-feed/contract.ts';

/** A change with its place in the log of this process. */
export interface LoggedChange {
  readonly index: number;
  readonly change: AnnouncedChange;
  /** When the change arrived, in milliseconds of `performance.now()`. */
  readonly at: number;
}

const MAX_CHANGES = 50_000;
/** A position with which a client that comes back reads again. Event streams have no empty ones. */
const UNKNOWN = 'unknown';

/**
 * Recent changes in the order of their commits, bounded in bytes. All processes receive the same changes in the same order, so an id that
 * one process gave to a client has its place in the log of the others. Places (indexes) belong to this process and only grow.
 */
export class ChangeLog {
  readonly #maxBytes: number;
  readonly #byRelation = new Map<number, LoggedChange[]>();
  readonly #indexes = new Map<string, number>();
  #all: LoggedChange[] = [];
  #bytes = 0;
  #start = 0;
  #end = 0;
  #lastId = '';

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The index that the next change gets. */
  get end(): number {
    return this.#end;
  }

  /** The id of the latest change; empty before the first one, and after a gap. */
  get lastId(): string {
    return this.#lastId;
  }

  add(change: AnnouncedChange): void {
    const logged = { index: this.#end++, change, at: performance.now() };
    this.#all.push(logged);
    this.#indexes.set(change.id, logged.index);
    this.#lastId = change.id;
    this.#bytes += change.bytes;
    const list = this.#byRelation.get(change.relation);
    if (list) list.push(logged);
    else this.#byRelation.set(change.relation, [logged]);
    // A quarter at a time, since each removal moves the rest of the list.
    if (this.#bytes > this.#maxBytes || this.#all.length > MAX_CHANGES) this.#trim();
  }

  /** The index of a change by its id; undefined where it is no longer, or not yet, known. */
  indexOf(id: string): number | undefined {
    return this.#indexes.get(id);
  }

  /** The id of the change before an index: the position of a client that has got all up to there. Where it is not known, the id of none. */
  positionAt(index: number): string {
    return this.#all[index - 1 - this.#start]?.change.id ?? UNKNOWN;
  }

  /** The changes of these tables with indexes from `from` on; undefined where some of them are no longer there. */
  since(relations: readonly number[], from: number): readonly LoggedChange[] | undefined {
    if (from < this.#start) return undefined;
    const lists = relations.map((relation) => tailOf(this.#byRelation.get(relation) ?? [], from));
    const [first = []] = lists;
    return lists.length === 1 ? first : lists.flat().toSorted((a, b) => a.index - b.index);
  }

  /** Forgets everything, since changes may have been missed: `since` answers undefined for each index of before. */
  clear(): void {
    this.#all = [];
    this.#byRelation.clear();
    this.#indexes.clear();
    this.#bytes = 0;
    this.#start = ++this.#end;
    this.#lastId = '';
  }

  #trim(): void {
    let removed = 0;
    const target = this.#maxBytes * 0.75;
    while (
      removed < this.#all.length - 1 &&
      (this.#bytes > target || this.#all.length - removed > MAX_CHANGES * 0.75)
    ) {
      const { change } = this.#all[removed++] as LoggedChange;
      this.#bytes -= change.bytes;
      this.#indexes.delete(change.id);
    }
    this.#all = this.#all.slice(removed);
    this.#start = (this.#all[0] as LoggedChange).index;
    for (const [relation, list] of this.#byRelation) {
      const rest = tailOf(list, this.#start);
      if (rest.length === 0) this.#byRelation.delete(relation);
      else if (rest.length < list.length) this.#byRelation.set(relation, rest);
    }
  }
}

/** The elements with an index from `from` on, of a list that is sorted by index. */
function tailOf(list: LoggedChange[], from: number): LoggedChange[] {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] as LoggedChange).index < from) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? list.slice() : list.slice(low);
}
