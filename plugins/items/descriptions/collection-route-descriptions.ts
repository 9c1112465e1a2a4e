import type { ErrorCode } from '#kernel';
import type { JsonSchema, RouteDescription, SchemaByMediaType } from '../../http/contract.ts';
import {
  anyOfSchema,
  dataEnvelopeSchema,
  describeDataAnswer,
  describeJsonBody,
  describeParameter,
  listSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  nullableSchema,
  objectSchema,
  schemaRef,
  TEXT_SCHEMA,
} from '../../http/library.ts';
import {
  ANSWER_SHAPE_QUERY_PARAMETER_REFS,
  LIST_QUERY_PARAMETER_REFS,
  queryOpenApiComponents,
  SINGLE_ROW_QUERY_PARAMETER_REFS,
} from './query-parameter-descriptions.ts';

/** Error codes of writes of rows. */
export const WRITE_ERROR_CODES: readonly ErrorCode[] = [
  'FAILED_VALIDATION',
  'INVALID_FOREIGN_KEY',
  'NOT_NULL_VIOLATION',
  'RECORD_NOT_UNIQUE',
  'UNPROCESSABLE_ENTITY',
  'VALUE_OUT_OF_RANGE',
  'VALUE_TOO_LONG',
];

/** Content types of `export`. JSON is a list without an envelope. */
const EXPORT_CONTENT: SchemaByMediaType = {
  'text/csv': TEXT_SCHEMA,
  'text/xml': TEXT_SCHEMA,
  'text/yaml': TEXT_SCHEMA,
};

const QUERY = schemaRef('Query');
const KEYS = listSchema(schemaRef('Key'));

/**
 * A row of a collection. The annotation `x-collection` names the collection, so that a document can insert its fields
 * from the schema; `{collection}` is that of the path.
 */
export const itemSchema = (collection: string): JsonSchema => ({
  ...schemaRef('Item'),
  'x-collection': collection,
});

export interface CollectionRouteDescriptions {
  readonly list: RouteDescription;
  readonly search: RouteDescription;
  readonly create: RouteDescription;
  readonly updateMany: RouteDescription;
  readonly deleteMany: RouteDescription;
  readonly readOne: RouteDescription;
  readonly updateOne: RouteDescription;
  readonly deleteOne: RouteDescription;
}

export interface DocumentedCollection {
  /** `{collection}` where the path has the name. */
  readonly collection: string;
  /** The rows, as the summaries call them. */
  readonly plural: string;
  readonly tag: string;
  /** A list of rows, the one row of a singleton, or either of them, by the collection in the path. */
  readonly holds: 'many' | 'one' | 'either';
}

/** Descriptions of the parameters, bodies and answers of the routes of a collection, independent of their path. */
export function describeCollectionRoutes(subject: DocumentedCollection): CollectionRouteDescriptions {
  const all = { ...describeList(subject), ...describeRow(subject) };
  if (subject.holds !== 'either') return all;
  const describeForm = (holds: 'many' | 'one') =>
    describeCollectionRoutes({ ...subject, plural: 'items of {collection}', holds });
  const [many, one] = [describeForm('many'), describeForm('one')];
  const withForms = (key: keyof CollectionRouteDescriptions): RouteDescription => ({
    ...all[key],
    byCollection: { list: many[key], ...(SINGLETON_ROUTES.includes(key) ? { singleton: one[key] } : {}) },
  });
  return {
    list: withForms('list'),
    search: withForms('search'),
    create: withForms('create'),
    updateMany: withForms('updateMany'),
    deleteMany: withForms('deleteMany'),
    readOne: withForms('readOne'),
    updateOne: withForms('updateOne'),
    deleteOne: withForms('deleteOne'),
  };
}

/** The routes of a collection that singletons have as well. */
const SINGLETON_ROUTES: readonly (keyof CollectionRouteDescriptions)[] = ['list', 'search', 'updateMany'];

type ListDescriptions = Pick<CollectionRouteDescriptions, 'list' | 'search' | 'create' | 'updateMany' | 'deleteMany'>;
type RowDescriptions = Omit<CollectionRouteDescriptions, keyof ListDescriptions>;
type BaseDescription = Pick<RouteDescription, 'tag' | 'access' | 'collection' | 'params' | 'components' | 'errors'>;

function describeList(subject: DocumentedCollection): ListDescriptions {
  const { collection, plural, holds } = subject;
  const item = itemSchema(collection);
  const base = describeBase(subject);
  const rows = {
    many: listSchema(item),
    one: nullableSchema(item),
    either: anyOfSchema(listSchema(item), nullableSchema(item)),
  }[holds];
  const sent = {
    'application/json': anyOfSchema(dataEnvelopeSchema(rows, schemaRef('Meta')), listSchema(item)),
    ...EXPORT_CONTENT,
  };
  const changes = {
    many: anyOfSchema(listSchema(item), ...keysOrQueryBodies({ data: item })),
    one: item,
    either: anyOfSchema(listSchema(item), item),
  };
  return {
    list: {
      ...base,
      summary: `Reads ${plural}.`,
      query: LIST_QUERY_PARAMETER_REFS,
      answers: { 200: sent },
    },
    search: {
      ...base,
      summary: `Reads ${plural} by a query or by keys in the body.`,
      query: LIST_QUERY_PARAMETER_REFS,
      body: describeJsonBody(objectSchema({ query: QUERY, keys: KEYS })),
      answers: { 200: sent },
    },
    create: {
      ...base,
      summary: `Creates ${plural}, one or a list; answers what the caller may read of them.`,
      query: ANSWER_SHAPE_QUERY_PARAMETER_REFS,
      body: describeJsonBody(anyOfSchema(item, listSchema(item))),
      answers: writtenAnswers(anyOfSchema(item, listSchema(item))),
      errors: writeErrors(subject),
    },
    updateMany: {
      ...base,
      summary: `Changes ${plural}${holds === 'one' ? '' : ' by keys, by a query or one by one'}.`,
      query: ANSWER_SHAPE_QUERY_PARAMETER_REFS,
      body: describeJsonBody(changes[holds]),
      answers: writtenAnswers(rows),
      errors: writeErrors(subject),
    },
    deleteMany: {
      ...base,
      summary: `Deletes ${plural} by keys or by a query.`,
      body: describeJsonBody(anyOfSchema(KEYS, ...keysOrQueryBodies({}))),
      answers: NO_CONTENT_ANSWER_DESCRIPTION,
      errors: writeErrors(subject),
    },
  };
}

function describeRow(subject: DocumentedCollection): RowDescriptions {
  const { collection, plural } = subject;
  const item = itemSchema(collection);
  const base = describeBase(subject);
  const single = { ...base, params: { ...base.params, id: describeParameter('The primary key of the row.') } };
  return {
    readOne: {
      ...single,
      summary: `Reads one row of ${plural} by its key.`,
      query: SINGLE_ROW_QUERY_PARAMETER_REFS,
      answers: describeDataAnswer(item, schemaRef('Meta')),
    },
    updateOne: {
      ...single,
      summary: `Changes one row of ${plural} by its key.`,
      query: ANSWER_SHAPE_QUERY_PARAMETER_REFS,
      body: describeJsonBody(item),
      answers: writtenAnswers(item),
      errors: writeErrors(subject),
    },
    deleteOne: {
      ...single,
      summary: `Deletes one row of ${plural} by its key.`,
      answers: NO_CONTENT_ANSWER_DESCRIPTION,
      errors: writeErrors(subject),
    },
  };
}

/** The part that the descriptions of all routes of a collection share. */
const describeBase = ({ collection, tag, holds }: DocumentedCollection): BaseDescription => ({
  tag,
  access: 'permissions',
  collection,
  params: collection === '{collection}' ? { collection: describeParameter('The name of the collection.') } : {},
  components: queryOpenApiComponents,
  // Admins get ROUTE_NOT_FOUND where the collection does not exist.
  ...(holds === 'either' ? { errors: ['ROUTE_NOT_FOUND'] } : {}),
});

const writeErrors = ({ holds }: DocumentedCollection): readonly ErrorCode[] =>
  holds === 'either' ? [...WRITE_ERROR_CODES, 'ROUTE_NOT_FOUND'] : WRITE_ERROR_CODES;

/** The written rows, or 204 where the caller may not read them. */
const writtenAnswers = (schema: JsonSchema) => ({
  ...describeDataAnswer(schema, schemaRef('Meta')),
  ...NO_CONTENT_ANSWER_DESCRIPTION,
});

/** A body that selects rows by keys or by a query. */
const keysOrQueryBodies = (more: Readonly<Record<string, JsonSchema>>): readonly JsonSchema[] => [
  objectSchema({ keys: KEYS, ...more }, ['keys', ...Object.keys(more)]),
  objectSchema({ query: QUERY, ...more }, ['query', ...Object.keys(more)]),
];
