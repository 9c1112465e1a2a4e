import type { Caller } from '#kernel';
import type { ItemsEngine } from '../../items/contract.ts';

/** What is deleted, with the number of rows that it has now. */
export interface AffectedRows {
  readonly name: string;
  readonly rows: number;
}

/** Counts the rows of dropped tables, and the rows with a value of dropped columns. */
export async function countAffectedRows(
  items: Pick<ItemsEngine, 'rows'>,
  caller: Caller,
  drops: readonly string[],
): Promise<readonly AffectedRows[]> {
  const counted: AffectedRows[] = [];
  for (const name of drops.filter((drop) => !drop.includes(':'))) {
    // Names of collections and fields have no dot.
    const [collection = '', field] = name.split('.');
    const [row] = await items.rows<{ count: number | string | Record<string, number | string> }>(caller, collection, {
      aggregate: { count: field ?? '*' },
    });
    const count = row?.count;
    counted.push({ name, rows: Number(typeof count === 'object' ? count[field ?? '*'] : (count ?? 0)) });
  }
  return counted;
}
