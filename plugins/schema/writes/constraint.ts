import { identifier } from '../../database/library.ts';
import type { Collection } from '../contract.ts';
import { tableOf, type WriteDeps } from './deps.ts';

/** A foreign key to another collection's primary key. */
interface Constraint {
  readonly many: Collection;
  readonly one: Collection;
  /** In the order of the columns of the other side's key. */
  readonly columns: readonly string[];
  readonly name: string;
  readonly onDelete: string;
  readonly onUpdate: string;
}

export const addConstraint = (
  { db }: WriteDeps,
  { many, one, columns, name, onDelete, onUpdate }: Constraint,
): Promise<void> =>
  db.ddl(
    `alter table ${tableOf(many)} add constraint ${identifier(name)} foreign key (${columns.map(identifier).join(', ')})
    references ${tableOf(one)} (${keyColumns(one)}) on delete ${onDelete} on update ${onUpdate}`,
  );

const keyColumns = ({ key }: Collection): string =>
  (key?.parts ?? [key]).map((field) => identifier(field?.column?.name ?? '')).join(', ');

export const dropConstraint = ({ db }: WriteDeps, many: Collection, name: string): Promise<void> =>
  db.ddl(`alter table ${tableOf(many)} drop constraint ${identifier(name)}`);
