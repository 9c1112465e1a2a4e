import type { Caller } from '#kernel';
import { type Payload, requirePayloadObject } from './payload.ts';
import { type RegistryTableName, registryDeclarationOf } from './registry-row.ts';
import type { SchemaWriteDeps } from './write-deps-and-guards.ts';

/** The meta of a schema event. `keys` are names of collections, or of fields of `collection`. */
export interface SchemaEventContext {
  readonly caller: Caller;
  readonly collection?: string;
  readonly keys?: readonly string[];
}

/** The meta of an event `collections.*`: it names `platform_collections`, whose keys are names of collections. */
export const createCollectionEventMeta = (caller: Caller, name: string) => ({
  caller,
  collection: 'platform_collections',
  keys: [name],
});

const LABELS: Readonly<Record<RegistryTableName, string>> = {
  collections: 'A collection',
  fields: 'A field',
  relations: 'A relation',
};

const isObject = (value: unknown): value is Payload =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Copies the members of `meta` into the payload for listeners: `payload.note` is `payload.meta.note`. */
const flattenMeta = (payload: Payload): Payload => ({ ...(isObject(payload.meta) ? payload.meta : {}), ...payload });

/**
 * Runs the filters of `<name>.create` or `<name>.update`, which may change members of the payload or of `meta`.
 * @throws INVALID_PAYLOAD where the input or the answer of a filter is no object; the error of a filter
 */
export async function runSchemaChangeFilters(
  deps: Pick<SchemaWriteDeps, 'events'>,
  name: RegistryTableName,
  verb: 'create' | 'update',
  input: unknown,
  context: SchemaEventContext,
): Promise<Payload> {
  const payload = requirePayloadObject(input, LABELS[name]);
  const flattened = flattenMeta(payload);
  // A filter may change the payload object in place.
  const valuesBefore = Object.fromEntries(
    Object.entries(flattened).map(([key, value]) => [key, JSON.stringify(value)]),
  );
  const filteredPayload = requirePayloadObject(
    await deps.events.filter([`${name}.${verb}`], flattened, { ...context }),
    LABELS[name],
  );
  const registryFields = new Set(registryDeclarationOf(name).fields.map(({ field }) => field));
  const isFlat = (key: string) =>
    !Object.hasOwn(payload, key) && (Object.hasOwn(valuesBefore, key) || registryFields.has(key));
  const entries = Object.entries(filteredPayload);
  const changed = entries.filter(
    ([key, value]) => registryFields.has(key) && isFlat(key) && JSON.stringify(value) !== valuesBefore[key],
  );
  const rest = Object.fromEntries(entries.filter(([key]) => !isFlat(key)));
  if (changed.length === 0) return rest;
  return { ...rest, meta: { ...(isObject(rest.meta) ? rest.meta : {}), ...Object.fromEntries(changed) } };
}

/** Emits the action event after a create or an update. */
export const emitSchemaChangeAction = (
  deps: Pick<SchemaWriteDeps, 'events'>,
  name: RegistryTableName,
  verb: 'create' | 'update',
  payload: Payload,
  context: SchemaEventContext & { readonly key?: string },
): void => deps.events.action([`${name}.${verb}`], { ...context, payload: flattenMeta(payload) });
