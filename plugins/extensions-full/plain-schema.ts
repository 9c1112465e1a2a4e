import type { Collection, Field, SchemaOverview } from '../schema/contract.ts';
import { toRelationRecord } from '../schema/library.ts';

/** `getSchema()` and `req.schema`: the schema as plain objects. */
export interface PlainSchema {
  readonly collections: Readonly<Record<string, PlainCollection>>;
  readonly relations: readonly unknown[];
}

interface PlainCollection {
  readonly collection: string;
  readonly primary: string;
  readonly singleton: boolean;
  readonly sortField: string | null;
  readonly note: string | null;
  readonly accountability: 'all' | 'activity' | null;
  readonly fields: Readonly<Record<string, unknown>>;
}

const cache = new WeakMap<SchemaOverview, PlainSchema>();

/** Collections with readable items; folders and tables without a primary key of one column are left out. */
export function toPlainSchema(schema: SchemaOverview): PlainSchema {
  let plain = cache.get(schema);
  if (!plain) {
    const served = [...schema.collections.values()].filter(({ table, primary }) => table !== null && primary !== null);
    plain = {
      collections: Object.fromEntries(served.map((one) => [one.name, toPlainCollection(one)])),
      relations: schema.relations.map(toRelationRecord),
    };
    cache.set(schema, plain);
  }
  return plain;
}

const toPlainCollection = ({ name, primary, singleton, sortField, meta, fields }: Collection): PlainCollection => ({
  collection: name,
  primary: primary as string,
  singleton,
  sortField,
  note: meta?.note ?? null,
  accountability: meta ? meta.accountability : 'all',
  fields: Object.fromEntries([...fields.values()].map((field) => [field.name, toPlainField(field)])),
});

const toPlainField = ({ name, type, special, column, meta }: Field) => ({
  field: name,
  type,
  dbType: column?.dataType ?? null,
  defaultValue: column?.default ?? null,
  nullable: column?.nullable ?? true,
  generated: column?.generated ?? false,
  precision: column?.precision ?? null,
  scale: column?.scale ?? null,
  special: [...special],
  note: meta?.note ?? null,
  alias: column === null,
  validation: meta?.validation ?? null,
});
