import type { ErrorCode } from '#kernel';
import type { Components, Content, JsonSchema, RouteDescription } from '../../http/contract.ts';
import {
  anyOf,
  dataAnswer,
  envelopeOf,
  jsonBody,
  listOf,
  NO_CONTENT,
  nullable,
  objectOf,
  parameter,
  schemaRef,
  TEXT,
} from '../../http/library.ts';
import { LIST_PARAMETERS, queryComponents, ROW_PARAMETERS, SHAPE_PARAMETERS } from './query.ts';

/** Codes of rows that cannot be written as they are. */
export const WRITE_ERRORS: readonly ErrorCode[] = [
  'FAILED_VALIDATION',
  'INVALID_FOREIGN_KEY',
  'NOT_NULL_VIOLATION',
  'RECORD_NOT_UNIQUE',
  'UNPROCESSABLE_ENTITY',
  'VALUE_OUT_OF_RANGE',
  'VALUE_TOO_LONG',
];

/** Files in the formats of `export`. JSON is a list without an envelope. */
const EXPORTED: Content = { 'text/csv': TEXT, 'text/xml': TEXT, 'text/yaml': TEXT };

const QUERY = schemaRef('Query');
const KEYS = listOf(schemaRef('Key'));

/**
 * A row of a collection. The annotation `x-collection` names the collection whose fields it has, so that a document can put
 * the fields of the schema in its place; `{collection}` is that of the path.
 */
export const itemOf = (collection: string): JsonSchema => ({
  ...schemaRef('Item'),
  'x-collection': collection,
});

export interface CollectionDescriptions {
  readonly list: RouteDescription;
  readonly search: RouteDescription;
  readonly create: RouteDescription;
  readonly updateMany: RouteDescription;
  readonly deleteMany: RouteDescription;
  readonly readOne: RouteDescription;
  readonly updateOne: RouteDescription;
  readonly deleteOne: RouteDescription;
}

export interface CollectionSubject {
  /** `{collection}` where the path names it. */
  readonly collection: string;
  /** The rows as a sentence names them. */
  readonly plural: string;
  readonly tag: string;
  /** A list of rows, the one row of a singleton, or what the collection of the path is. */
  readonly holds: 'many' | 'one' | 'either';
}

/** What the routes of a collection take and answer, at whatever path they stand. */
export function describeCollection({ collection, plural, tag, holds }: CollectionSubject): CollectionDescriptions {
  const item = itemOf(collection);
  const inPath: RouteDescription['params'] =
    collection === '{collection}' ? { collection: parameter('The name of the collection.') } : {};
  const ofOne = { ...inPath, id: parameter('The primary key of the row.') };
  const writeErrors: readonly ErrorCode[] = holds === 'either' ? [...WRITE_ERRORS, 'ROUTE_NOT_FOUND'] : WRITE_ERRORS;
  const components: Components = queryComponents;
  const base = { tag, access: 'permissions', params: inPath, components } as const;
  const single = { ...base, params: ofOne } as const;

  const rows = { many: listOf(item), one: nullable(item), either: anyOf(listOf(item), nullable(item)) }[holds];
  const sent = { 'application/json': anyOf(envelopeOf(rows, schemaRef('Meta')), listOf(item)), ...EXPORTED };
  const written = (schema: JsonSchema) => ({ ...dataAnswer(schema, schemaRef('Meta')), ...NO_CONTENT });
  const selection = (more: Readonly<Record<string, JsonSchema>>): readonly JsonSchema[] => [
    objectOf({ keys: KEYS, ...more }, ['keys', ...Object.keys(more)]),
    objectOf({ query: QUERY, ...more }, ['query', ...Object.keys(more)]),
  ];
  const changes = {
    many: anyOf(listOf(item), ...selection({ data: item })),
    one: item,
    either: anyOf(listOf(item), item),
  };

  return {
    list: {
      ...base,
      summary: `Reads ${plural}.`,
      query: LIST_PARAMETERS,
      answers: { 200: sent },
    },
    search: {
      ...base,
      summary: `Reads ${plural} by a query or by keys in the body.`,
      query: LIST_PARAMETERS,
      body: jsonBody(objectOf({ query: QUERY, keys: KEYS })),
      answers: { 200: sent },
    },
    create: {
      ...base,
      summary: `Creates ${plural}, one or a list; answers what the caller may read of them.`,
      query: SHAPE_PARAMETERS,
      body: jsonBody(anyOf(item, listOf(item))),
      answers: written(anyOf(item, listOf(item))),
      errors: writeErrors,
    },
    updateMany: {
      ...base,
      summary: `Changes ${plural}${holds === 'one' ? '' : ' by keys, by a query or one by one'}.`,
      query: SHAPE_PARAMETERS,
      body: jsonBody(changes[holds]),
      answers: written(rows),
      errors: writeErrors,
    },
    deleteMany: {
      ...base,
      summary: `Deletes ${plural} by keys or by a query.`,
      body: jsonBody(anyOf(KEYS, ...selection({}))),
      answers: NO_CONTENT,
      errors: writeErrors,
    },
    readOne: {
      ...single,
      summary: `Reads one row of ${plural} by its key.`,
      query: ROW_PARAMETERS,
      answers: dataAnswer(item, schemaRef('Meta')),
    },
    updateOne: {
      ...single,
      summary: `Changes one row of ${plural} by its key.`,
      query: SHAPE_PARAMETERS,
      body: jsonBody(item),
      answers: written(item),
      errors: writeErrors,
    },
    deleteOne: {
      ...single,
      summary: `Deletes one row of ${plural} by its key.`,
      answers: NO_CONTENT,
      errors: writeErrors,
    },
  };
}
