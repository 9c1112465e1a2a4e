import { SYSTEM_PREFIX } from '../contract.ts';
import type { CatalogTable } from './content.ts';

/**
 * Names under which tables are served: the table's own where it is in the first schema or alone with its name, else with
 * its schema before it. Tables with the system prefix are served only where they are declared and in the first schema.
 */
export function collectionNames(
  tables: readonly CatalogTable[],
  first: string,
  isDeclared: (name: string) => boolean,
): ReadonlyMap<CatalogTable, string> {
  const counts = new Map<string, number>();
  for (const { name } of tables) counts.set(name, (counts.get(name) ?? 0) + 1);
  const served = tables.filter(
    ({ schema, name }) => !name.startsWith(SYSTEM_PREFIX) || (schema === first && isDeclared(name)),
  );
  const named = new Map<CatalogTable, string>();
  const taken = new Set<string>();
  const give = (table: CatalogTable, name: string) => {
    let free = name;
    for (let at = 2; taken.has(free); at++) free = `${name}_${at}`;
    taken.add(free);
    named.set(table, free);
  };
  const plain = ({ schema, name }: CatalogTable) => schema === first || counts.get(name) === 1;
  for (const table of served) if (plain(table)) give(table, table.name);
  for (const table of served) {
    const name = `${table.schema}_${table.name}`;
    if (!plain(table) && !name.startsWith(SYSTEM_PREFIX)) give(table, name);
  }
  return named;
}
