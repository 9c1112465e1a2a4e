import type { Overview } from '../schema/contract.ts';

export interface MissingIndex {
  readonly collection: string;
  readonly field: string;
  readonly related: string | null;
  /** Not run by the service: an index costs every write, so making one is somebody's decision. */
  readonly statement: string;
}

const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * Foreign keys that no index begins with. Without one, reading the rows that belong to a row reads their whole table, and
 * so does deleting it.
 */
export function missingIndexes({ relations, collections }: Overview): readonly MissingIndex[] {
  return relations.flatMap(({ collection, field, related, schema }) => {
    const { table, fields } = collections.get(collection) ?? {};
    const column = fields?.get(field)?.column;
    if (!schema || !table || !column || column.leadsIndex) return [];
    const place = `${identifier(table.schema)}.${identifier(table.name)}`;
    // `concurrently`: writes go on meanwhile.
    const statement = `create index concurrently on ${place} (${identifier(column.name)})`;
    return [{ collection, field, related, statement }];
  });
}
