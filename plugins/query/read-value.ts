import type { Db } from '../database/contract.ts';
import { identifier } from '../database/library.ts';
import type { Sealing } from './contract.ts';

/** See `Sealing.readValue`. */
export const createReadValue =
  (db: Db): Sealing['readValue'] =>
  async ({ table, primary }, { column }, key) => {
    if (!table || primary === null || !column) return null;
    const { rows } = await db.query<{ value: unknown }>(
      `select to_json(${identifier(column.name)}) as value
      from ${identifier(table.schema)}.${identifier(table.name)}
      where ${identifier(primary)}::text = $1`,
      [String(key)],
    );
    return rows[0]?.value ?? null;
  };
