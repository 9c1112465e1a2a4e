import type { FieldType } from '../../schema/contract.ts';
import type { TypedCollection, TypedField } from '../model/typed-schema.ts';
import { nameInterfaces, renderKey, toSchemaKey } from './type-names.ts';

const HEADER = `/**
 * Types of the collections, for the client library: createDirectus<Schema>(url).
 * This file is generated. Make it anew when the schema has changed.
 */
`;

/**
 * The literals tell the client library which functions and filters a field has; the other members are the values themselves.
 */
const VALUE_TYPES = `/** Any JSON. */
export type Json = 'json' | { [key: string]: unknown } | unknown[] | number | boolean | (string & {});
/** A list of texts. */
export type Csv = 'csv' | string[];
/** A date with a time, in ISO 8601. */
export type DateTime = 'datetime' | (string & {});
/** A date: YYYY-MM-DD. */
export type DateText = 'date' | (string & {});
/** A time: HH:mm:ss. */
export type TimeText = 'time' | (string & {});
/** A geometry. */
export type GeoJson = { type: string; coordinates: unknown };
`;

/** Types of values as an answer has them: numbers beyond the precision of JavaScript are texts. */
const TYPES: Partial<Readonly<Record<FieldType, string>>> = {
  integer: 'number',
  float: 'number',
  boolean: 'boolean',
  dateTime: 'DateTime',
  timestamp: 'DateTime',
  date: 'DateText',
  time: 'TimeText',
  json: 'Json',
  csv: 'Csv',
};

const typeOf = (type: FieldType): string => TYPES[type] ?? (type.startsWith('geometry') ? 'GeoJson' : 'string');

/** Renders one file of TypeScript. Equal collections give equal texts, whatever their order. */
export function renderTypes(collections: readonly TypedCollection[]): string {
  // An interface without members would accept every value.
  const shown = collections.filter(({ fields }) => fields.length > 0).toSorted(byName);
  const context: Context = {
    names: nameInterfaces(shown.map(({ name }) => name)),
    byName: new Map(shown.map((collection) => [collection.name, collection])),
  };
  const members = shown.map(({ name, isSingleton }) => {
    const type = `${context.names.get(name)}${isSingleton ? '' : '[]'}`;
    return `  ${renderKey(toSchemaKey(name))}: ${type};\n`;
  });
  const interfaces = shown.map((collection) => renderInterface(collection, context));
  return [HEADER, `export interface Schema {\n${members.join('')}}\n`, ...interfaces, VALUE_TYPES].join('\n');
}

interface Context {
  readonly names: ReadonlyMap<string, string>;
  readonly byName: ReadonlyMap<string, TypedCollection>;
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);

function renderInterface({ name, fields }: TypedCollection, context: Context): string {
  const lines = fields
    .toSorted(byName)
    .map((field) => `  ${renderKey(field.name)}: ${renderFieldType(field, context)};\n`);
  return `/** A row of ${JSON.stringify(name).replaceAll('*/', '*\\\\/')}. */\nexport interface ${context.names.get(name)} {\n${lines.join('')}}\n`;
}

function renderFieldType(field: TypedField, { names, byName: collections }: Context): string {
  const { type, choices, relation, isNullable } = field;
  const orNull = isNullable ? ' | null' : '';
  const isList = type === 'json' || type === 'csv';
  const literals = choices?.map((value) => JSON.stringify(value)).join(' | ');
  const own = literals === undefined ? typeOf(type) : isList ? `'${type}' | (${literals})[]` : literals;
  if (!relation) return own + orNull;
  if (relation.kind === 'many') {
    const target = names.get(relation.to);
    const keyType = typeOf(collections.get(relation.to)?.keyType ?? 'string');
    return target === undefined ? 'unknown[]' : `${keyType}[] | ${target}[]`;
  }
  const targets = (relation.kind === 'any' ? relation.to : [relation.to]).flatMap((name) => names.get(name) ?? []);
  return [own, ...targets].join(' | ') + orNull;
}
