import type { Db } from '../database/contract.ts';
import { quoteIdentifier } from '../database/library.ts';
import type { PermissionRestrictionMarker } from './contract.ts';

/** Creates `Sealing.readValue`, which reads the value of a field of one row as parsed JSON, without permissions. */
export const createFieldValueReader =
  (db: Db): PermissionRestrictionMarker['readValue'] =>
  async ({ table, primary }, { column }, key) => {
    if (!table || primary === null || !column) return null;
    const { rows } = await db.query<{ value: unknown }>(
      `select to_json(${quoteIdentifier(column.name)}) as value
      from ${quoteIdentifier(table.schema)}.${quoteIdentifier(table.name)}
      where ${quoteIdentifier(primary)}::text = $1`,
      [String(key)],
    );
    return rows[0]?.value ?? null;
  };
