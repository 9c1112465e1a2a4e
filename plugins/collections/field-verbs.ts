import type { Caller } from '#kernel';
import type { FieldRecord } from '../schema/contract.ts';
import type { CollectionRouteDeps } from './route-helpers.ts';
import {
  loadVisibleSchema,
  requireVisibleCollection,
  requireVisibleField,
  toVisibleFieldRecord,
  visibleCollections,
  visibleFields,
} from './visible-schema.ts';

/** Reads and changes of fields for a caller, shared by REST and GraphQL. */
export interface FieldCrud {
  list(caller: Caller): Promise<readonly FieldRecord[]>;
  listOf(caller: Caller, collection: string): Promise<readonly FieldRecord[]>;
  get(caller: Caller, collection: string, name: string): Promise<FieldRecord>;
  getMany(caller: Caller, collection: string, names: readonly string[]): Promise<readonly FieldRecord[]>;
  create(caller: Caller, collection: string, input: unknown): Promise<FieldRecord>;
  update(caller: Caller, collection: string, name: string, input: unknown): Promise<FieldRecord>;
  remove(caller: Caller, collection: string, name: string): Promise<void>;
}

export function createFieldCrud(deps: CollectionRouteDeps): FieldCrud {
  const { writes } = deps;
  const visible = (caller: Caller) => loadVisibleSchema(caller, 'platform_fields', deps);

  const verbs: FieldCrud = {
    async list(caller) {
      const schema = await visible(caller);
      const fields = visibleCollections(schema).flatMap((collection) => visibleFields(schema, collection));
      return fields.map((field) => toVisibleFieldRecord(schema, field));
    },
    async listOf(caller, collection) {
      const schema = await visible(caller);
      return visibleFields(schema, requireVisibleCollection(schema, collection)).map((field) =>
        toVisibleFieldRecord(schema, field),
      );
    },
    async get(caller, collection, name) {
      const schema = await visible(caller);
      return toVisibleFieldRecord(schema, requireVisibleField(schema, collection, name));
    },
    async getMany(caller, collection, names) {
      const schema = await visible(caller);
      return names.map((name) => toVisibleFieldRecord(schema, requireVisibleField(schema, collection, name)));
    },
    async create(caller, collection, input) {
      return verbs.get(caller, collection, await writes.createField(caller, collection, input));
    },
    async update(caller, collection, name, input) {
      await writes.updateField(caller, collection, name, input);
      return verbs.get(caller, collection, name);
    },
    remove: (caller, collection, name) => writes.deleteField(caller, collection, name),
  };
  return verbs;
}
