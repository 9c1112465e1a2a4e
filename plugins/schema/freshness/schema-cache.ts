import type { Log } from '#kernel';
import { coalesce } from '../../cluster/library.ts';
import type { CatalogReading, CatalogSource } from '../catalog/source.ts';
import type { Overview } from '../contract.ts';
import { SchemaStore } from './schema-store.ts';

interface SchemaCacheDeps {
  readonly source: CatalogSource;
  readonly build: (reading: CatalogReading) => Overview;
  /** Is a unit of work open around the caller? */
  readonly inUnit: () => boolean;
  readonly log: Log;
}

export interface SchemaCache {
  snapshot(): Promise<Overview>;
  /** Compares with the database, whatever was announced. */
  refresh(): Promise<Overview>;
  onChange(handle: (snapshot: Overview) => void): void;
  /** Something may have changed: whoever asks from now on waits until that is known. */
  invalidate(): void;
  /** What schema snapshots are made of beside the database has changed: none that is remembered is right any more. */
  rebuild(): void;
  /** From now on changes are announced by calls of `heard`, so that nobody needs to look. */
  trustAnnouncements(): void;
  /** Whether announcements arrive at the moment: while they do not, every request looks. */
  setAnnouncementsArriving(arrives: boolean): void;
  /** Until `settled` is called, schema snapshots inside units of work are checked on their own connection. */
  beginUncommittedChange(): { end(): void };
}

/** Holds the schema snapshot and knows whether it is still right. */
export function createSchemaCache({ source, build, inUnit, log }: SchemaCacheDeps): SchemaCache {
  const store = new SchemaStore(source, build);
  let isTrusting = false;
  let isArriving = true;
  /** Both of them. */
  let isAnnounced = false;
  let announcements = 0;
  let checkedAnnouncements = 0;
  const unsettled = new Set<object>();
  const handlers: ((snapshot: Overview) => void)[] = [];

  /** Answers from a look that began after the call; calls at the same time share it. */
  const check = coalesce(readShared);

  async function readShared(): Promise<Overview> {
    const before = announcements;
    const known = await store.read();
    checkedAnnouncements = before;
    const changed = store.current?.schema.version !== known.schema.version;
    store.current = known;
    if (changed) for (const handle of handlers) notifyHandler(handle, known.schema);
    return known.schema;
  }

  function notifyHandler(handle: (snapshot: Overview) => void, snapshot: Overview): void {
    try {
      handle(snapshot);
    } catch (error) {
      log.error({ err: error }, 'a listener to schema changes failed');
    }
  }

  function heard(): void {
    announcements++;
    if (!inUnit())
      check().catch((error) =>
        log.warn({ reason: (error as Error).message }, 'reading the schema failed; the next request tries again'),
      );
  }

  return {
    async snapshot() {
      const { current } = store;
      if (isAnnounced && current && checkedAnnouncements === announcements && unsettled.size === 0)
        return current.schema;
      if (inUnit()) return (await store.read()).schema;
      if (isAnnounced && current && checkedAnnouncements === announcements) return current.schema;
      return check();
    },
    async refresh() {
      return inUnit() ? (await store.read()).schema : check();
    },
    onChange: (handle) => void handlers.push(handle),
    invalidate: heard,
    rebuild() {
      store.clear();
      heard();
    },
    trustAnnouncements() {
      isTrusting = true;
      isAnnounced = isArriving;
    },
    setAnnouncementsArriving(does) {
      isArriving = does;
      isAnnounced = isTrusting && isArriving;
      if (isArriving) heard();
    },
    beginUncommittedChange() {
      const token = {};
      unsettled.add(token);
      return { end: () => void unsettled.delete(token) };
    },
  };
}
