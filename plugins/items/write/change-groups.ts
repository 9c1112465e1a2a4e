import type { PendingRevisionId } from '../../activity/contract.ts';
import type { ConditionTree, PermissionRestricted } from '../../query/contract.ts';
import type { Field } from '../../schema/contract.ts';
import type { Key, Payload } from '../contract.ts';
import { parseKeyValue } from '../find-collection-and-key.ts';
import type { RowChange } from './level-writes.ts';
import { hasKeyColumns } from './row-key.ts';
import type { RequestRowPath } from './row-path.ts';
import type { SplitPayload } from './split-payload.ts';

export interface PreparedChange {
  readonly keys: readonly Key[];
  readonly parts: SplitPayload;
  /** The payload as written, for listeners. */
  readonly payload: Payload;
  /** The row rule; null where the rows were checked against it already. */
  readonly rowRule: PermissionRestricted<ConditionTree> | null;
  /** The requested fields, on which the row rule depends. */
  readonly requestedFields: string;
  readonly parentRevision: PendingRevisionId | null;
  readonly path: RequestRowPath;
  /** The revisions of the rows, one for each key. */
  readonly revisions: readonly PendingRevisionId[];
}

/** Splits the list where a row is named again, since its second change has to find the first one applied. */
export function splitChangesAtRepeatedKeys(
  changes: readonly RowChange[],
  key: Field,
): readonly (readonly RowChange[])[] {
  const parts: RowChange[][] = [];
  let seenKeys = new Set<Key>();
  for (const change of changes) {
    const keys = change.keys.map((raw) => parseKeyValue(key, raw));
    if (parts.length === 0 || keys.some((one) => seenKeys.has(one))) {
      parts.push([]);
      seenKeys = new Set();
    }
    parts.at(-1)?.push(change);
    for (const one of keys) seenKeys.add(one);
  }
  return parts;
}

export interface SingleStatementRowChanges {
  readonly rows: readonly PreparedChange[];
  readonly columns: readonly Payload[];
  /** The indexes of the rows in the list of all changes. */
  readonly positions: readonly number[];
}

/** Rows that set the same fields under the same rule share one statement. A row whose key changes is written alone. */
export function groupChangesByStatement(
  rows: readonly PreparedChange[],
  columns: readonly Payload[],
  key: Field,
): readonly SingleStatementRowChanges[] {
  const groups = new Map<string, { rows: PreparedChange[]; columns: Payload[]; positions: number[] }>();
  for (const [at, row] of rows.entries()) {
    const ownColumns = columns[at] as Payload;
    const kind = hasKeyColumns(key, ownColumns)
      ? `${at}`
      : `${row.requestedFields}\n${Object.keys(ownColumns).sort().join('\0')}\n`;
    const group = groups.get(kind) ?? { rows: [], columns: [], positions: [] };
    groups.set(kind, group);
    group.rows.push(row);
    group.columns.push(ownColumns);
    group.positions.push(at);
  }
  return [...groups.values()];
}
