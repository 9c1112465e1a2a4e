import type { JsonSchema, RouteDescription } from '../http/contract.ts';
import {
  ANY_VALUE_SCHEMA,
  anyOfSchema,
  dataEnvelopeSchema,
  describeDataAnswer,
  describeParameter,
  enumSchema,
  exactObjectSchema,
  INTEGER_SCHEMA,
  listSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  nullableSchema,
  objectSchema,
  RECORD_SCHEMA,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';
import { SNAPSHOT_PARTS } from './contract.ts';

const NAMES = anyOfSchema(TEXT_SCHEMA, listSchema(TEXT_SCHEMA));
const FLAG = enumSchema('', 'true', 'false', '1', '0');
const PART_LISTS = Object.fromEntries(SNAPSHOT_PARTS.map((name) => [name, listSchema(RECORD_SCHEMA)]));

/** In a snapshot that the service writes every member is there; of one that a person wrote only the names are required. */
const RECORDS = { meta: nullableSchema(RECORD_SCHEMA), schema: nullableSchema(RECORD_SCHEMA) };
const COLLECTION = objectSchema({ collection: TEXT_SCHEMA, ...RECORDS }, ['collection']);
const FIELD = objectSchema({ collection: TEXT_SCHEMA, field: TEXT_SCHEMA, type: TEXT_SCHEMA, ...RECORDS }, [
  'collection',
  'field',
  'type',
]);
const RELATION = objectSchema(
  {
    collection: TEXT_SCHEMA,
    field: TEXT_SCHEMA,
    related_collection: nullableSchema(TEXT_SCHEMA),
    ...RECORDS,
  },
  ['collection', 'field'],
);

const SNAPSHOT = objectSchema(
  {
    version: { enum: [1, 2] },
    tenon: TEXT_SCHEMA,
    vendor: TEXT_SCHEMA,
    collections: listSchema(COLLECTION),
    fields: listSchema(FIELD),
    systemFields: listSchema(RECORD_SCHEMA),
    relations: listSchema(RELATION),
    ...PART_LISTS,
  },
  ['version', 'tenon', 'vendor', 'collections', 'fields', 'relations'],
);

const DIFFERENCE = objectSchema(
  {
    kind: enumSchema('N', 'D', 'E', 'A'),
    path: listSchema(anyOfSchema(TEXT_SCHEMA, INTEGER_SCHEMA)),
    lhs: ANY_VALUE_SCHEMA,
    rhs: ANY_VALUE_SCHEMA,
    index: INTEGER_SCHEMA,
    item: RECORD_SCHEMA,
  },
  ['kind'],
);
const ENTRY = objectSchema(
  {
    collection: TEXT_SCHEMA,
    field: TEXT_SCHEMA,
    related_collection: nullableSchema(TEXT_SCHEMA),
    diff: listSchema(DIFFERENCE),
  },
  ['collection', 'diff'],
);
const ENTRIES = Object.fromEntries(
  ['collections', 'fields', 'systemFields', 'relations'].map((name) => [name, listSchema(ENTRY)]),
);
const HASHED_DIFF = objectSchema(
  {
    hash: TEXT_SCHEMA,
    diff: objectSchema({ ...ENTRIES, ...PART_LISTS }, []),
    renames: listSchema(exactObjectSchema({ collection: TEXT_SCHEMA, from: TEXT_SCHEMA, to: TEXT_SCHEMA })),
  },
  ['hash', 'diff'],
);

const force = describeParameter('Ignores that versions, vendors or hashes differ.', FLAG);
const documentBody = (schema: JsonSchema): RouteDescription['body'] => ({
  content: {
    'application/json': schema,
    'text/yaml': {},
    'application/yaml': {},
    'multipart/form-data': { type: 'object', description: 'The first file is the document, JSON or YAML.' },
  },
});

export const SNAPSHOT_ROUTE_DESCRIPTION: RouteDescription = {
  summary: 'Reads a snapshot of collections, fields and relations, and of other parts by choice.',
  access: 'admin',
  query: {
    export: describeParameter('Answers the bare document as a download.', enumSchema('json', 'yaml')),
    includeCollections: describeParameter('Only these collections; the snapshot has version 2.', NAMES),
    excludeCollections: describeParameter('All collections but these; the snapshot has version 2.', NAMES),
    with: describeParameter(`Further parts: ${SNAPSHOT_PARTS.join(', ')}.`, NAMES),
  },
  answers: {
    200: {
      'application/json': anyOfSchema(
        dataEnvelopeSchema(schemaRef('SchemaSnapshot')),
        // With `export=json`.
        schemaRef('SchemaSnapshot'),
      ),
      'text/yaml': {},
    },
  },
  components: { schemas: { SchemaSnapshot: SNAPSHOT } },
};

export const DIFF_ROUTE_DESCRIPTION: RouteDescription = {
  summary:
    'Compares the schema with a snapshot: what turns the schema into that of the snapshot, or 204 for no difference.',
  access: 'admin',
  query: {
    force,
    mode: describeParameter('`merge` deletes nothing; default `mirror`.', enumSchema('mirror', 'merge')),
  },
  body: documentBody(schemaRef('SchemaSnapshot')),
  answers: { ...describeDataAnswer(schemaRef('SchemaDiff')), ...NO_CONTENT_ANSWER_DESCRIPTION },
  components: { schemas: { SchemaSnapshot: SNAPSHOT, SchemaDiff: HASHED_DIFF } },
};

export const APPLY_ROUTE_DESCRIPTION: RouteDescription = {
  summary: 'Applies a diff in one transaction; refuses it where the schema has changed since the diff was made.',
  access: 'admin',
  query: { force },
  body: documentBody(schemaRef('SchemaDiff')),
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
  errors: [
    'ROUTE_NOT_FOUND',
    'INVALID_FOREIGN_KEY',
    'RECORD_NOT_UNIQUE',
    'CONTAINS_NULL_VALUES',
    'VALUE_OUT_OF_RANGE',
    'VALUE_TOO_LONG',
    'FAILED_VALIDATION',
    'NOT_NULL_VIOLATION',
    'INVALID_CONFIG',
  ],
  components: { schemas: { SchemaDiff: HASHED_DIFF } },
};
