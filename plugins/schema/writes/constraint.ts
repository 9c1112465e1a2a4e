import { identifier } from '../../database/library.ts';
import type { Collection } from '../contract.ts';
import { tableOf, type WriteDeps } from './deps.ts';

/** A foreign key to another collection's primary key. */
interface Constraint {
  readonly many: Collection;
  readonly one: Collection;
  readonly field: string;
  readonly name: string;
  readonly onDelete: string;
  readonly onUpdate: string;
}

export const addConstraint = (
  { db }: WriteDeps,
  { many, one, field, name, onDelete, onUpdate }: Constraint,
): Promise<void> =>
  db.ddl(
    `alter table ${tableOf(many)} add constraint ${identifier(name)} foreign key (${identifier(field)})
    references ${tableOf(one)} (${identifier(one.primary as string)}) on delete ${onDelete} on update ${onUpdate}`,
  );

export const dropConstraint = ({ db }: WriteDeps, many: Collection, name: string): Promise<void> =>
  db.ddl(`alter table ${tableOf(many)} drop constraint ${identifier(name)}`);
