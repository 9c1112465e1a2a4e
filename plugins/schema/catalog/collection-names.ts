import { SYSTEM_COLLECTION_PREFIX } from '../contract.ts';
import type { CatalogTable } from './parse-catalog-content.ts';

/**
 * Assigns collection names to tables: the table's name where it is in the first schema or no other table has the name,
 * else `<schema>_<table>`. Tables with the system prefix are served only where a plugin declares them and they are in
 * the first schema.
 */
export function assignCollectionNames(
  tables: readonly CatalogTable[],
  firstSchema: string,
  isDeclared: (name: string) => boolean,
): ReadonlyMap<CatalogTable, string> {
  const counts = new Map<string, number>();
  for (const { name } of tables) counts.set(name, (counts.get(name) ?? 0) + 1);
  const served = tables.filter(
    ({ schema, name }) => !name.startsWith(SYSTEM_COLLECTION_PREFIX) || (schema === firstSchema && isDeclared(name)),
  );
  const assigned = new Map<CatalogTable, string>();
  const taken = new Set<string>();
  const assign = (table: CatalogTable, name: string) => {
    let free = name;
    for (let at = 2; taken.has(free); at++) free = `${name}_${at}`;
    taken.add(free);
    assigned.set(table, free);
  };
  const hasPlainName = ({ schema, name }: CatalogTable) => schema === firstSchema || counts.get(name) === 1;
  for (const table of served) if (hasPlainName(table)) assign(table, table.name);
  for (const table of served) {
    const name = `${table.schema}_${table.name}`;
    if (!hasPlainName(table) && !name.startsWith(SYSTEM_COLLECTION_PREFIX)) assign(table, name);
  }
  return assigned;
}
