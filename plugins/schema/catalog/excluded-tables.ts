import { BootFailure } from '#kernel';
import { SYSTEM_COLLECTION_PREFIX } from '../contract.ts';
import type { CatalogContent } from './parse-catalog-content.ts';

type IsExcluded = (table: { readonly schema: string; readonly name: string }) => boolean;

/**
 * Creates the check of DB_EXCLUDE_TABLES: `log` excludes the tables of this name in all schemas, `audit.log` one.
 * @throws BootFailure for a table of the service, which cannot do without it.
 */
export function createExcludedTableCheck(plugin: string, names: readonly string[]): IsExcluded {
  const own = names.find((name) => (name.split('.').at(-1) as string).startsWith(SYSTEM_COLLECTION_PREFIX));
  if (own !== undefined) {
    throw new BootFailure(plugin, 'config', `DB_EXCLUDE_TABLES names ${own}, a table of the service itself`, {
      remedy: 'remove it from DB_EXCLUDE_TABLES',
    });
  }
  const all = new Set(names);
  return ({ schema, name }) => all.has(name) || all.has(`${schema}.${name}`);
}

/** Leaves excluded tables out, and the foreign keys from and to them: a column that refers to one is a plain column. */
export function withoutExcludedTables(content: CatalogContent, isExcluded: IsExcluded): CatalogContent {
  return {
    ...content,
    tables: content.tables.filter((table) => !isExcluded(table)),
    foreignKeys: content.foreignKeys.filter(({ from, to }) => !isExcluded(from) && !isExcluded(to)),
  };
}
