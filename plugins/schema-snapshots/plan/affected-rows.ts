import type { Caller } from '#kernel';
import type { ItemsEngine } from '../../items/contract.ts';
import type { Drop } from './drops.ts';

/** What is deleted, with the number of rows that it has now. */
export interface AffectedRows {
  readonly name: string;
  readonly rows: number;
}

/** Counts the rows of dropped tables, and the rows with a value of dropped columns. */
export async function countAffectedRows(
  items: Pick<ItemsEngine, 'rows'>,
  caller: Caller,
  drops: readonly Drop[],
): Promise<readonly AffectedRows[]> {
  const counted: AffectedRows[] = [];
  for (const { name, collection, field = '*' } of drops) {
    if (collection === undefined) continue;
    const aggregate = { count: field };
    const [row] = await items.rows<{ count: Counts }>(caller, collection, { aggregate });
    const count = row?.count ?? 0;
    counted.push({ name, rows: Number(typeof count === 'object' ? count[field] : count) });
  }
  return counted;
}

/** The number of all rows, or numbers by field. */
type Counts = number | string | Readonly<Record<string, number | string>>;
