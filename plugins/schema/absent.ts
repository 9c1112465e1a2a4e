import { type Caller, type Failure, fail, isSystem } from '#kernel';
import type { Schema, UnservedTable } from './contract.ts';

/**
 * A collection that is not there: to an admin, for whom nothing is hidden, 404 with the reason where there is a table by that name
 * (ADR 42); to all others the FORBIDDEN of what may not be read. `detail` is for the log.
 */
export async function absentCollection(
  schema: Pick<Schema, 'unserved'>,
  caller: Caller | undefined,
  name: string,
  detail: string,
): Promise<Failure> {
  if (!caller?.admin || isSystem(caller)) return fail('FORBIDDEN', detail);
  const table = (await schema.unserved()).find((one) => one.name === name || `${one.schema}_${one.name}` === name);
  return notFound(name, table);
}

const notFound = (collection: string, table: UnservedTable | undefined): Failure =>
  table
    ? fail('ROUTE_NOT_FOUND', `The table ${table.schema}.${table.name} is not served: ${table.reason}.`, {
        collection,
        reason: table.reason,
      })
    : fail('ROUTE_NOT_FOUND', `There is no collection "${collection}".`, { collection });

/** What an admin asks for by a name that nothing has. */
export const absent = (kind: 'collection' | 'field' | 'relation', name: string): Failure =>
  fail('ROUTE_NOT_FOUND', `There is no ${kind} "${name}".`);
