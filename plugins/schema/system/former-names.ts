import type { Db } from '../../database/contract.ts';
import { quoteIdentifier } from '../../database/library.ts';
import type { SystemCollection } from '../contract.ts';

/** A table of an earlier version and the objects whose names begin with its name. */
interface FormerTable {
  readonly name: string;
  readonly indexes: readonly string[];
  readonly constraints: readonly string[];
}

/** Renames tables that had another name in an earlier version, with their indexes and constraints. Rows stay as they are. */
export async function renameFormerTables(
  db: Pick<Db, 'query' | 'schemas'>,
  all: readonly SystemCollection[],
): Promise<void> {
  const names = new Map(all.flatMap(({ formerName, collection }) => (formerName ? [[formerName, collection]] : [])));
  if (names.size === 0) return;
  const { rows } = await db.query<FormerTable>(
    `select c.relname as name,
      array(select i.relname::text from pg_index x join pg_class i on i.oid = x.indexrelid
        where x.indrelid = c.oid and not exists (select from pg_constraint k where k.conindid = i.oid and k.conrelid = c.oid)) as indexes,
      array(select k.conname::text from pg_constraint k where k.conrelid = c.oid) as constraints
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relkind = 'r' and c.relname = any($2::text[])
      and not exists (select from pg_class o where o.relnamespace = n.oid and o.relname = ($3::jsonb) ->> c.relname)`,
    [db.schemas[0], [...names.keys()], JSON.stringify(Object.fromEntries(names))],
  );
  const schema = quoteIdentifier(db.schemas[0] as string);
  for (const { name, indexes, constraints } of rows) {
    const newName = names.get(name) as string;
    const renamed = (part: string): string => quoteIdentifier(newName + part.slice(name.length));
    const statements = [
      `alter table ${schema}.${quoteIdentifier(name)} rename to ${quoteIdentifier(newName)}`,
      ...indexes
        .filter((index) => index.startsWith(name))
        .map((index) => `alter index ${schema}.${quoteIdentifier(index)} rename to ${renamed(index)}`),
      ...constraints
        .filter((constraint) => constraint.startsWith(name))
        .map(
          (constraint) =>
            `alter table ${schema}.${quoteIdentifier(newName)} rename constraint ${quoteIdentifier(constraint)} to ${renamed(constraint)}`,
        ),
    ];
    await db.query(statements.join(';\n'));
  }
}
