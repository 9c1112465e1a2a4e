import type { JsonSchema } from '../../http/contract.ts';
import { schemaRef } from '../../http/library.ts';
import { rowSchemaName } from './names.ts';
import { inputSchemaName } from './row-schema.ts';
import type { VisibleSchema } from './visible-schema.ts';

/** Replaces the rows in a schema of a route description, which `x-collection` marks, by references to the schemas of collections. */
export type ReplaceRows = (schema: JsonSchema, direction: 'answered' | 'sent') => JsonSchema;

/** Rows of collections that the document has no schema of stay objects with any members. */
export const createRowReplacer = ({ collections }: VisibleSchema): ReplaceRows => {
  const referenceTo = (name: string, direction: 'answered' | 'sent'): JsonSchema => {
    const visible = collections.get(name);
    if (!visible) return schemaRef('Item');
    if (direction === 'answered') return schemaRef(rowSchemaName(name));
    return visible.writable.length > 0 ? schemaRef(inputSchemaName(name)) : schemaRef('Item');
  };
  const replace = (value: unknown, direction: 'answered' | 'sent'): unknown => {
    if (Array.isArray(value)) return value.map((one) => replace(one, direction));
    if (typeof value !== 'object' || value === null) return value;
    const { 'x-collection': collection } = value as { readonly 'x-collection'?: unknown };
    if (typeof collection === 'string') return referenceTo(collection, direction);
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, replace(one, direction)]));
  };
  return (schema, direction) => replace(schema, direction) as JsonSchema;
};
