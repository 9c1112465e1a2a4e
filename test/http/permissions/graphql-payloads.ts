import { InexpressibleInGraphqlError } from '../../plugins/graphql/cases/document-entries.ts';
import type { GraphqlTranslator } from './graphql-translator.ts';
import { hasCompositeKey, isPayloadObject, parseKeyColumns, requireSingleKeyColumn } from './keys.ts';
import type { PermissionTestModel, PermissionTestPayload } from './reference-types.ts';
import type { TestWriteRequest } from './reference-writes.ts';

export const SKIPPED_WRITE_BY_QUERY_REASON = 'a write to what a query finds';
export const SKIPPED_DETAILED_LISTS_REASON = 'lists of what to create, update and delete behind a relation';

/** Translates a write to GraphQL inputs, in which related rows are objects and links are objects with a key. */
export function toMutationWrite(
  translator: GraphqlTranslator,
  collection: string,
  write: TestWriteRequest,
): TestWriteRequest {
  const { visibleSchema } = translator;
  const payload = (action: 'create' | 'update') => (one: PermissionTestPayload) => {
    for (const field of Object.keys(one)) {
      // An update may name the key of its row, also if the key is not writable.
      const isKey = action === 'update' && visibleSchema.keyOf(collection).includes(field);
      if (!isKey && !visibleSchema.isWritable(collection, action, field)) translator.hidden = true;
    }
    return toInput(translator, collection, one);
  };
  switch (write.verb) {
    case 'create':
      if (!visibleSchema.isCreatable(collection)) translator.hidden = true;
      return { ...write, rows: write.rows.map(payload('create')) };
    case 'update':
      if (!visibleSchema.isUpdatable(collection)) translator.hidden = true;
      return { ...write, data: payload('update')(write.data) };
    case 'update each':
      if (!visibleSchema.isUpdatable(collection)) translator.hidden = true;
      return { ...write, rows: write.rows.map(payload('update')) };
    case 'delete':
      if (visibleSchema.of(collection, 'delete').length === 0) translator.hidden = true;
      return write;
    default:
      throw new InexpressibleInGraphqlError(SKIPPED_WRITE_BY_QUERY_REASON);
  }
}

function toInput(
  translator: GraphqlTranslator,
  collection: string,
  payload: PermissionTestPayload,
): PermissionTestPayload {
  const { model } = translator.visibleSchema;
  const { manyToOne, toMany } = model[collection] as PermissionTestModel[string];
  return Object.fromEntries(
    Object.entries(payload).map(([field, value]) => {
      if (toMany[field]) return [field, toToManyInput(translator, toMany[field].to, value)];
      return [field, manyToOne[field] ? toToOneInput(translator, manyToOne[field], value) : value];
    }),
  );
}

function toToOneInput(translator: GraphqlTranslator, to: string, value: unknown): unknown {
  const key = requireSingleKeyColumn(translator.visibleSchema.model[to] as PermissionTestModel[string]);
  if (value === null) return null;
  if (translator.visibleSchema.isNestable(to))
    return isPayloadObject(value) ? nested(translator, to, value) : { [key]: value };
  if (!isPayloadObject(value)) return value;
  const isLink = Object.keys(value).length === 1 && value[key] !== undefined;
  if (!isLink) translator.hidden = true;
  return isLink ? value[key] : value;
}

function toToManyInput(translator: GraphqlTranslator, to: string, value: unknown): unknown {
  if (!translator.visibleSchema.isNestable(to)) translator.hidden = true;
  if (value === null) return null;
  if (!Array.isArray(value)) throw new InexpressibleInGraphqlError(SKIPPED_DETAILED_LISTS_REASON);
  const model = translator.visibleSchema.model[to] as PermissionTestModel[string];
  return value.map((one) => nested(translator, to, isPayloadObject(one) ? one : parseKeyColumns(model, one)));
}

/** Translates a nested payload. The input of a nested row has the fields that the person may create or update. */
function nested(translator: GraphqlTranslator, to: string, payload: PermissionTestPayload): PermissionTestPayload {
  const { visibleSchema } = translator;
  for (const field of Object.keys(payload)) {
    const isTaken =
      visibleSchema.keyOf(to).includes(field) ||
      visibleSchema.isWritable(to, 'create', field) ||
      visibleSchema.isWritable(to, 'update', field);
    if (!isTaken) translator.hidden = true;
  }
  return toInput(translator, to, payload);
}

/** Replaces objects with only a key by the bare key, which links the row as well. */
export function withBareRelatedKeys(
  translator: GraphqlTranslator,
  write: TestWriteRequest,
  collection: string,
): TestWriteRequest {
  const { model } = translator.visibleSchema;
  const bare = (name: string, payload: PermissionTestPayload): PermissionTestPayload => {
    const { manyToOne, toMany } = model[name] as PermissionTestModel[string];
    return Object.fromEntries(
      Object.entries(payload).map(([field, value]) => {
        const many = toMany[field];
        if (many && Array.isArray(value)) return [field, value.map((one) => linked(many.to, bare(many.to, one)))];
        return [field, manyToOne[field] && isPayloadObject(value) ? bare(manyToOne[field], value) : value];
      }),
    );
  };
  const linked = (to: string, one: PermissionTestPayload): unknown => {
    const of = model[to] as PermissionTestModel[string];
    if (hasCompositeKey(of)) return one;
    const key = requireSingleKeyColumn(of);
    return Object.keys(one).length === 1 && one[key] !== undefined ? one[key] : one;
  };
  if ('rows' in write) return { ...write, rows: write.rows.map((row) => bare(collection, row)) };
  return 'data' in write ? { ...write, data: bare(collection, write.data) } : write;
}
