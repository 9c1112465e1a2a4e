import type { SchemaOverview } from '../schema/contract.ts';

export interface MissingIndex {
  readonly collection: string;
  readonly field: string;
  readonly related: string | null;
  /**
   * `create index concurrently …`, for an operator to run. The service does not run the statement: an index slows down
   * every write, so an operator must decide.
   */
  readonly statement: string;
}

const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * Foreign keys that are not the first column of any index. Without such an index PostgreSQL reads the whole table to
 * find the rows that refer to a row, for nested lists and for every delete of that row.
 */
export function findMissingForeignKeyIndexes({ relations, collections }: SchemaOverview): readonly MissingIndex[] {
  return relations.flatMap(({ collection, field, related, schema }) => {
    const { table, fields } = collections.get(collection) ?? {};
    const column = fields?.get(field)?.column;
    if (!schema || !table || !column || column.leadsIndex) return [];
    const place = `${identifier(table.schema)}.${identifier(table.name)}`;
    // `concurrently` does not block writes.
    const statement = `create index concurrently on ${place} (${identifier(column.name)})`;
    return [{ collection, field, related, statement }];
  });
}
