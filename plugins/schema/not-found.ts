import { type Caller, type Failure, fail, isSystem } from '#kernel';
import type { Schema } from './contract.ts';

/**
 * A collection that is not there: to an admin, for whom nothing is hidden, 404 with the reason where there is a table by that name
 * (ADR 42); to all others the FORBIDDEN of what may not be read. `detail` is a sentence, which only admins see.
 */
export async function absentCollection(
  schema: Pick<Schema, 'unservedTables'>,
  caller: Caller | undefined,
  name: string,
  detail: string,
): Promise<Failure> {
  if (!caller?.admin || isSystem(caller)) return fail('FORBIDDEN', detail);
  const table = (await schema.unservedTables()).find(
    (one) => one.name === name || `${one.schema}_${one.name}` === name,
  );
  if (!table) return fail('ROUTE_NOT_FOUND', detail, { collection: name });
  const { schema: place, reason } = table;
  return fail('ROUTE_NOT_FOUND', `The table ${place}.${table.name} is not served: ${reason}.`, {
    collection: name,
    reason,
  });
}

/** What an admin asks for by a name that nothing has. */
export const createNotFoundFailure = (kind: 'collection' | 'field' | 'relation', name: string): Failure =>
  fail('ROUTE_NOT_FOUND', `There is no ${kind} "${name}".`);
