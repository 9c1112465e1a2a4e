import { joinCompositeKey } from '../../query/library.ts';
import type { AnnouncedChange, OldRow, RowKey } from '../../row-feed/contract.ts';
import type { LoggedChange } from './change-log.ts';

/** The state of one row after a batch of changes. */
export interface RowChange {
  /** The key as text. */
  readonly key: string;
  /** The row exists at the end: it is new since the batch began, or was changed. */
  event: 'create' | 'update' | undefined;
  /** The row was created and then updated: an update for subscriptions to updates alone. */
  isUpdatedToo: boolean;
  /** JSON text of the row that was deleted last. */
  deleted: string | undefined;
  /** JSON text of the row before the batch, as far as it was announced. */
  before: string | undefined;
}

/** The changes of one collection within a span of the log, merged by row. `undefined` where rows cannot be named. */
export type ChangeBatch = ReadonlyMap<string, RowChange> | undefined;

/** Whether rows before an update have to be known. */
export type OldRowNeed = 'required' | 'optional';

/**
 * Merges changes by row, in the order of their commits. A row that was deleted and created again is both. Where rows before an update are
 * `required`, an update without them names its rows as little as `many` does.
 */
export function mergeChanges(changes: readonly LoggedChange[], oldRows: OldRowNeed): ChangeBatch {
  const rows = new Map<string, RowChange>();
  for (const { change } of changes) {
    if (oldRows === 'required' && change.event === 'update' && change.oldRows.length === 0) return undefined;
    if (!addChange(rows, change)) return undefined;
  }
  return rows;
}

/** False where the change does not name its rows. */
function addChange(rows: Map<string, RowChange>, { event, keys, goneRows, oldRows }: AnnouncedChange): boolean {
  if (event === 'many') return false;
  const oldTexts = new Map(oldRows.map(({ key, text }) => [keyText(key), text]));
  for (const gone of goneRows) {
    const key = keyText(gone.key);
    if (key === undefined) return false;
    addDeletion(rows, key, gone);
  }
  for (const parts of keys) {
    const key = keyText(parts);
    if (key === undefined) return false;
    addPresence(rows, key, event === 'create' ? 'create' : 'update', oldTexts.get(key));
  }
  return true;
}

function addDeletion(rows: Map<string, RowChange>, key: string, { text }: OldRow): void {
  const known = rows.get(key);
  if (!known) {
    rows.set(key, { key, event: undefined, isUpdatedToo: false, deleted: text, before: text });
    return;
  }
  known.event = undefined;
  known.isUpdatedToo = false;
  known.deleted = text;
}

function addPresence(
  rows: Map<string, RowChange>,
  key: string,
  event: 'create' | 'update',
  before: string | undefined,
): void {
  const known = rows.get(key);
  if (!known) rows.set(key, { key, event, isUpdatedToo: false, deleted: undefined, before });
  else if (known.event !== 'create') known.event = event;
  else known.isUpdatedToo = true;
}

/** The key as the service writes it; undefined for a key with a null column. */
function keyText(key: RowKey): string | undefined {
  if (key.includes(null)) return undefined;
  return key.length === 1 ? (key[0] as string) : joinCompositeKey(key as readonly string[]);
}
