import type { Db } from '../database/contract.ts';
import { quoteIdentifier } from '../database/library.ts';
import { fieldColumnSql } from './compile/compilation-state.ts';
import type { PermissionRestrictionMarker } from './contract.ts';

/** Creates `PermissionRestrictionMarker.readValue`, which reads the value of a field of one row as parsed JSON, without permissions. */
export const createFieldValueReader =
  (db: Db): PermissionRestrictionMarker['readValue'] =>
  async ({ table, primary }, field, key) => {
    if (!table || primary === null || !field.column) return null;
    const { rows } = await db.query<{ value: unknown }>(
      `select to_json(${fieldColumnSql('t', field)}) as value
      from ${quoteIdentifier(table.schema)}.${quoteIdentifier(table.name)} t
      where t.${quoteIdentifier(primary)}::text = $1`,
      [String(key)],
    );
    return rows[0]?.value ?? null;
  };
