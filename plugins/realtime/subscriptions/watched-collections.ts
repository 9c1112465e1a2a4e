import type { Log } from '#kernel';
import { quoteIdentifier } from '../../database/library.ts';
import { keyColumns } from '../../query/library.ts';
import type { RowFeed } from '../../row-feed/contract.ts';
import type { Collection } from '../../schema/contract.ts';
import { columnsOf, SubscribedCollection } from './subscribed-collection.ts';

interface Deps {
  readonly rowFeed: Pick<RowFeed, 'watch' | 'unwatch'>;
  readonly log: Log;
}

/** The collections that clients are subscribed to, whose tables are watched. */
export class WatchedCollections {
  readonly #deps: Deps;
  readonly #byName = new Map<string, SubscribedCollection>();
  readonly #byRelation = new Map<number, SubscribedCollection>();
  /** One attempt at a time for each table. */
  readonly #watching = new Map<string, Promise<void>>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  get all(): Iterable<SubscribedCollection> {
    return this.#byName.values();
  }

  ofRelation(relation: number): SubscribedCollection | undefined {
    return this.#byRelation.get(relation);
  }

  /** The collection, from whose table each further change is announced. @throws what `RowFeed.watch` throws */
  async open(collection: Collection, withOldRows: boolean): Promise<SubscribedCollection> {
    const table = tableName(collection);
    for (;;) {
      const known = this.#byName.get(collection.name);
      if (known && known.table === table && (known.withOldRows || !withOldRows)) return known;
      const running = this.#watching.get(table);
      if (running) await running.catch(() => {});
      else
        await this.#watch(
          collection,
          known?.table === table ? known : undefined,
          withOldRows || (known?.withOldRows ?? false),
        );
    }
  }

  /** Forgets a collection without subscriptions. */
  close(collection: SubscribedCollection): void {
    if (collection.subscriptions.size > 0 || this.#byName.get(collection.name) !== collection) return;
    this.#byName.delete(collection.name);
    for (const relation of collection.relations) this.#byRelation.delete(relation);
    this.#deps.rowFeed.unwatch(collection.table);
  }

  /**
   * Watches a table again: its triggers, partitions or columns may have changed. `missed` where changes were not announced or cannot be
   * read, `failed` where the table cannot be watched now.
   */
  async renew(subscribed: SubscribedCollection, collection: Collection): Promise<'unchanged' | 'missed' | 'failed'> {
    const { triggers, columns } = subscribed;
    try {
      await this.#watch(collection, subscribed, subscribed.withOldRows);
      return subscribed.triggers === triggers && subscribed.columns === columns ? 'unchanged' : 'missed';
    } catch (error) {
      this.#deps.log.warn(
        { collection: collection.name, reason: (error as Error).message },
        'changes of a collection with subscriptions are not announced for now',
      );
      return 'failed';
    }
  }

  #watch(collection: Collection, known: SubscribedCollection | undefined, withOldRows: boolean): Promise<void> {
    const table = tableName(collection);
    const watch = async () => {
      const keys = keyColumns(collection).map(({ column }) => column?.name ?? '');
      const { relations, triggers } = await this.#deps.rowFeed.watch({ table, keyColumns: keys, withOldRows });
      const subscribed = known ?? new SubscribedCollection(collection.name, table);
      for (const relation of subscribed.relations) this.#byRelation.delete(relation);
      subscribed.relations = relations;
      subscribed.triggers = triggers;
      subscribed.withOldRows = withOldRows;
      subscribed.columns = columnsOf(collection);
      this.#byName.set(collection.name, subscribed);
      for (const relation of relations) this.#byRelation.set(relation, subscribed);
    };
    const running = watch().finally(() => this.#watching.delete(table));
    this.#watching.set(table, running);
    return running;
  }
}

const tableName = ({ table }: Collection): string =>
  table ? `${quoteIdentifier(table.schema)}.${quoteIdentifier(table.name)}` : '';
