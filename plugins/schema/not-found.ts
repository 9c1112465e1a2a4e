import { type Caller, type Failure, fail, isSystem } from '#kernel';
import type { SchemaService } from './contract.ts';

/**
 * The failure for an unknown collection (ADR 42). For an admin ROUTE_NOT_FOUND, with the reason where a table of that
 * name is not served; for other callers the same FORBIDDEN as for a collection without read permission. `detail` is a
 * sentence that only admins see.
 */
export async function createCollectionNotFoundFailure(
  schema: Pick<SchemaService, 'unservedTables'>,
  caller: Caller | undefined,
  name: string,
  detail: string,
): Promise<Failure> {
  if (!caller?.admin || isSystem(caller)) return fail('FORBIDDEN', detail);
  const table = (await schema.unservedTables()).find(
    (one) => one.name === name || `${one.schema}_${one.name}` === name,
  );
  if (!table) return fail('ROUTE_NOT_FOUND', detail, { collection: name });
  const { schema: schemaName, reason } = table;
  return fail('ROUTE_NOT_FOUND', `The table ${schemaName}.${table.name} is not served: ${reason}.`, {
    collection: name,
    reason,
  });
}

/** The failure for an unknown name: ROUTE_NOT_FOUND, for admins only, who may know which names exist. */
export const createUnknownSchemaNameFailure = (kind: 'collection' | 'field' | 'relation', name: string): Failure =>
  fail('ROUTE_NOT_FOUND', `There is no ${kind} "${name}".`);
