import type { Caller } from '#kernel';
import type { WriteDeps } from './deps.ts';
import { type Payload, parseObject } from './payload.ts';
import { declarationOf, type RegistryName } from './registry-row.ts';

/** What an event of the schema says beside its payload. `collection` and `keys` say together what is written. */
export interface SchemaEventContext {
  readonly caller: Caller;
  readonly collection?: string;
  readonly keys?: readonly string[];
}

/** Events of collections are about rows of this one, whose keys are the names of collections. */
export const createCollectionContext = (caller: Caller, name: string) => ({
  caller,
  collection: 'platform_collections',
  keys: [name],
});

const LABELS: Readonly<Record<RegistryName, string>> = {
  collections: 'A collection',
  fields: 'A field',
  relations: 'A relation',
};

const isObject = (value: unknown): value is Payload =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Listeners find what is in `meta` beside the rest as well: `payload.note` is `payload.meta.note`. */
const flattenMeta = (payload: Payload): Payload => ({ ...(isObject(payload.meta) ? payload.meta : {}), ...payload });

/**
 * Asks the filters of `<name>.create` or `<name>.update`, which may change the flat form or `meta`.
 * @throws INVALID_PAYLOAD where the input, or what a filter answers, is no object; what a filter throws.
 */
export async function applyFilters(
  deps: Pick<WriteDeps, 'events'>,
  name: RegistryName,
  verb: 'create' | 'update',
  input: unknown,
  context: SchemaEventContext,
): Promise<Payload> {
  const payload = parseObject(input, LABELS[name]);
  const flattened = flattenMeta(payload);
  // A filter may write into the object that it is handed.
  const before = Object.fromEntries(Object.entries(flattened).map(([key, value]) => [key, JSON.stringify(value)]));
  const filteredPayload = parseObject(
    await deps.events.filter([`${name}.${verb}`], flattened, { ...context }),
    LABELS[name],
  );
  const registryFields = new Set(declarationOf(name).fields.map(({ field }) => field));
  const isFlat = (key: string) =>
    !Object.hasOwn(payload, key) && (Object.hasOwn(before, key) || registryFields.has(key));
  const entries = Object.entries(filteredPayload);
  const changed = entries.filter(
    ([key, value]) => registryFields.has(key) && isFlat(key) && JSON.stringify(value) !== before[key],
  );
  const rest = Object.fromEntries(entries.filter(([key]) => !isFlat(key)));
  if (changed.length === 0) return rest;
  return { ...rest, meta: { ...(isObject(rest.meta) ? rest.meta : {}), ...Object.fromEntries(changed) } };
}

/** The action of what was created or updated. */
export const emitAction = (
  deps: Pick<WriteDeps, 'events'>,
  name: RegistryName,
  verb: 'create' | 'update',
  payload: Payload,
  context: SchemaEventContext & { readonly key?: string },
): void => deps.events.action([`${name}.${verb}`], { ...context, payload: flattenMeta(payload) });
