import type { Log } from '#kernel';
import type { RowChanges, SchemaService } from '../../schema/contract.ts';
import { quoteTableName } from './quote-table-name.ts';
import type { TableChanges } from './table-changes.ts';

/** After this time a table that was refused is looked at again, since it may have been locked only. Milliseconds. */
const RETRY_AFTER = 30_000;
/** Schema changes in quick succession are waited out this many times. */
const ATTEMPTS = 5;

interface Deps {
  readonly rowChanges: Pick<RowChanges, 'announce'>;
  readonly schema: Pick<SchemaService, 'snapshot'>;
  readonly changes: TableChanges;
  readonly ignoredCollections: readonly string[];
  readonly log: Log;
}

type TableState =
  /** Changes are announced since `since`, of `relations`. */
  | { readonly since: number; readonly relations: readonly number[] }
  /** Changes are not announced. Looked at again after `until`. */
  | { readonly until: number };

/** Knows of which tables the database announces changes, and makes it announce those of others. */
export interface AnnouncedTables {
  /**
   * The oids whose announcements say that an answer of these tables has changed; undefined where not all changes since `time` are
   * announced. Then the missing triggers are created in the background.
   */
  relationsOf(tables: ReadonlySet<string>, time: number): readonly number[] | undefined;
  /** The schema has changed, triggers included: nothing is known any more. */
  forget(): void;
  /** Resolves when the work in the background has ended, for the stop of the service and for tests. */
  settle(): Promise<void>;
}

export function createAnnouncedTables({ rowChanges, schema, changes, ignoredCollections, log }: Deps): AnnouncedTables {
  let states = new Map<string, TableState>();
  const waiting = new Set<string>();
  const refusals = new Set<string>();
  let running: Promise<void> | undefined;

  async function ignoredTables(): Promise<ReadonlySet<string>> {
    if (ignoredCollections.length === 0) return new Set();
    const { collections } = await schema.snapshot();
    return new Set(
      ignoredCollections.flatMap((name) => {
        const table = collections.get(name)?.table;
        return table ? [quoteTableName(table)] : [];
      }),
    );
  }

  /** Announces the waiting tables. What was learned before a change of the schema is thrown away and learned again. */
  async function work(): Promise<void> {
    for (let attempt = 0; waiting.size > 0 && attempt < ATTEMPTS; attempt++) {
      const current = states;
      const tables = [...waiting];
      const ignored = await ignoredTables();
      const announced = await rowChanges.announce(tables.filter((table) => !ignored.has(table)));
      if (states !== current) continue;
      for (const table of tables) waiting.delete(table);
      const since = changes.advance();
      for (const table of tables) if (ignored.has(table)) states.set(table, { since, relations: [] });
      for (const { table, relations, refusal } of announced) {
        states.set(table, refusal === undefined ? { since, relations } : { until: performance.now() + RETRY_AFTER });
        if (refusal !== undefined) logRefusal(table, refusal);
      }
    }
    waiting.clear();
  }

  function logRefusal(table: string, refusal: string): void {
    const line = `answers with rows of ${table} are not cached: ${refusal}`;
    if (refusals.has(line) || refusals.size > 1000) return;
    refusals.add(line);
    log.info(line);
  }

  function announce(table: string): void {
    waiting.add(table);
    running ??= work()
      .catch((error) => {
        waiting.clear();
        log.debug({ reason: (error as Error).message }, 'tables whose answers are cached could not be looked at');
      })
      .finally(() => {
        running = undefined;
      });
  }

  return {
    relationsOf(tables, time) {
      const relations: number[] = [];
      let isAnnounced = true;
      for (const table of tables) {
        const state = states.get(table);
        if (state === undefined || ('until' in state && state.until < performance.now())) announce(table);
        if (state && 'since' in state && state.since <= time) relations.push(...state.relations);
        else isAnnounced = false;
      }
      return isAnnounced ? relations : undefined;
    },
    forget() {
      states = new Map();
    },
    settle: async () => {
      while (running) await running;
    },
  };
}
