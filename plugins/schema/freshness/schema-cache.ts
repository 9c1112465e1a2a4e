import type { Log } from '#kernel';
import { coalesceConcurrentCalls } from '../../cluster/library.ts';
import type { CatalogReader, CatalogReadResult } from '../catalog/catalog-reader.ts';
import type { SchemaOverview } from '../contract.ts';
import { SchemaSnapshotStore } from './schema-store.ts';

interface SchemaCacheDeps {
  readonly source: CatalogReader;
  readonly build: (reading: CatalogReadResult) => SchemaOverview;
  /** Whether a unit of work is open around the caller. */
  readonly inUnit: () => boolean;
  readonly log: Log;
}

export interface SchemaCache {
  snapshot(): Promise<SchemaOverview>;
  /** Checks the catalogs, also where no change was announced. */
  refresh(): Promise<SchemaOverview>;
  onChange(handle: (snapshot: SchemaOverview) => void): void;
  /** The schema may have changed: later calls of `snapshot` wait for a check of the catalogs. */
  invalidate(): void;
  /** The declared system collections have changed: drops all stored snapshots and reads again. */
  rebuild(): void;
  /** From now on the database announces every change by `invalidate`, so that `snapshot` needs no check of the catalogs. */
  trustAnnouncements(): void;
  /** Whether announcements arrive: while they do not, every `snapshot` checks the catalogs. */
  setAnnouncementsArriving(arrives: boolean): void;
  /** Until `end`, `snapshot` inside a unit of work checks the catalogs on the connection of that unit. */
  beginUncommittedChange(): { end(): void };
}

/** Caches the schema snapshot and tracks whether it is up to date. */
export function createSchemaCache({ source, build, inUnit, log }: SchemaCacheDeps): SchemaCache {
  const store = new SchemaSnapshotStore(source, build);
  let isTrusting = false;
  let isArriving = true;
  /** Whether every change calls `invalidate`: `isTrusting` and `isArriving`. */
  let isAnnounced = false;
  let announcements = 0;
  let checkedAnnouncements = 0;
  const uncommitted = new Set<object>();
  const handlers: ((snapshot: SchemaOverview) => void)[] = [];

  /** Checks the catalogs. Concurrent calls share one read, which begins after them. */
  const check = coalesceConcurrentCalls(readShared);

  async function readShared(): Promise<SchemaOverview> {
    const before = announcements;
    const latest = await store.read();
    checkedAnnouncements = before;
    const isChanged = store.current?.schema.version !== latest.schema.version;
    store.current = latest;
    if (isChanged) for (const handle of handlers) notifyHandler(handle, latest.schema);
    return latest.schema;
  }

  function notifyHandler(handle: (snapshot: SchemaOverview) => void, snapshot: SchemaOverview): void {
    try {
      handle(snapshot);
    } catch (error) {
      log.error({ err: error }, 'a listener to schema changes failed');
    }
  }

  function invalidate(): void {
    announcements++;
    if (!inUnit())
      check().catch((error) =>
        log.warn({ reason: (error as Error).message }, 'reading the schema failed; the next request tries again'),
      );
  }

  return {
    async snapshot() {
      const { current } = store;
      if (isAnnounced && current && checkedAnnouncements === announcements && uncommitted.size === 0)
        return current.schema;
      if (inUnit()) return (await store.read()).schema;
      if (isAnnounced && current && checkedAnnouncements === announcements) return current.schema;
      return check();
    },
    async refresh() {
      return inUnit() ? (await store.read()).schema : check();
    },
    onChange: (handle) => void handlers.push(handle),
    invalidate,
    rebuild() {
      store.clear();
      invalidate();
    },
    trustAnnouncements() {
      isTrusting = true;
      isAnnounced = isArriving;
    },
    setAnnouncementsArriving(arrives) {
      isArriving = arrives;
      isAnnounced = isTrusting && isArriving;
      if (isArriving) invalidate();
    },
    beginUncommittedChange() {
      const token = {};
      uncommitted.add(token);
      return { end: () => void uncommitted.delete(token) };
    },
  };
}
