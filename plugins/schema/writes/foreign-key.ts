import { quoteIdentifier } from '../../database/library.ts';
import type { Collection } from '../contract.ts';
import { quoteTable, type SchemaWriteDeps } from './write-deps-and-guards.ts';

/** A foreign key from `many` to the key of `one`. */
interface ForeignKeyConstraint {
  readonly many: Collection;
  readonly one: Collection;
  /** The columns of `many`, in the order of the key of `one`. */
  readonly columns: readonly string[];
  readonly name: string;
  readonly onDelete: string;
  readonly onUpdate: string;
}

export const addForeignKeyConstraint = (
  { db }: SchemaWriteDeps,
  { many, one, columns, name, onDelete, onUpdate }: ForeignKeyConstraint,
): Promise<void> =>
  db.ddl(
    `alter table ${quoteTable(many)} add constraint ${quoteIdentifier(name)} foreign key (${columns.map(quoteIdentifier).join(', ')})
    references ${quoteTable(one)} (${renderKeyColumns(one)}) on delete ${onDelete} on update ${onUpdate}`,
  );

const renderKeyColumns = ({ key }: Collection): string =>
  (key?.parts ?? [key]).map((field) => quoteIdentifier(field?.column?.name ?? '')).join(', ');

export const dropForeignKeyConstraint = ({ db }: SchemaWriteDeps, many: Collection, name: string): Promise<void> =>
  db.ddl(`alter table ${quoteTable(many)} drop constraint ${quoteIdentifier(name)}`);
