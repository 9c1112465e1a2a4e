import type { Db } from '../database/contract.ts';
import { throwQueryFailure } from './failures.ts';

let counter = 0;

/**
 * Reads the generic plan of a statement, with `$1` in the place of values. (`explain (generic_plan)` does the same, but only from
 * PostgreSQL 16 on.)
 */
export const explainStatement = (db: Db, text: string, params: readonly unknown[]): Promise<unknown> =>
  db
    .transaction(async () => {
      const name = `explained_${++counter}`;
      await db.query(`prepare ${name} as ${text}`);
      await db.query('set local plan_cache_mode to force_generic_plan');
      const values = params.length === 0 ? '' : `(${params.map(() => 'null').join(', ')})`;
      const { rows } = await db.query<{ 'QUERY PLAN': unknown }>(`explain (format json) execute ${name}${values}`);
      // Prepared statements belong to the connection, which outlives the transaction.
      await db.query(`deallocate ${name}`);
      return rows[0]?.['QUERY PLAN'];
    })
    .catch((error) => throwQueryFailure(error));
