import type { FreshDatabase } from '../../test/support/database.ts';
import type { ExpectedRows } from './writers.ts';

/** Finds differences between the database and the acknowledged writes, one line each. */
export async function findWriteDiscrepancies(
  database: FreshDatabase,
  record: ExpectedRows,
): Promise<readonly string[]> {
  const rows = await database.query<{ id: string; n: number; batch: string | null }>('select id, n, batch from thing');
  const found = new Map(rows.map((row) => [row.id, row]));
  const losses: string[] = [];
  for (const [id, { isSure, values }] of record) {
    const row = found.get(id);
    if (!row && isSure) losses.push(`row ${id} was acknowledged and is not there`);
    if (row && !values.has(row.n)) losses.push(`row ${id} has n = ${row.n}, not ${[...values].join(' or ')}`);
  }
  for (const { id } of rows) if (!record.has(id)) losses.push(`row ${id} was never sent`);
  const batches = await database.query<{ batch: string; count: number }>(
    'select batch, count(*)::int as count from thing where batch is not null group by batch having count(*) <> 20',
  );
  for (const { batch, count } of batches) losses.push(`batch ${batch} has ${count} rows of 20`);
  const history = await database.query<{ item: string; created: number }>(
    `select coalesce(t.id::text, a.item) as item, count(a.item)::int as created from thing t
     full join (select item from platform_activity where collection = 'thing' and action = 'create') a on a.item = t.id::text
     group by 1 having count(a.item) <> 1 or count(t.id) <> 1`,
  );
  for (const { item, created } of history) losses.push(`row ${item} has ${created} records of its creation`);
  return losses;
}
