import type { ErrorCode } from '#kernel';
import type { RouteDescription } from '../http/contract.ts';
import {
  ANY_VALUE_SCHEMA,
  anyOfSchema,
  describeDataAnswer,
  describeJsonBody,
  describeParameter,
  listSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  objectSchema,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';
import { buildChangeListElementSchema, collectionRouteOpenapiComponents, oneOrListSchema } from './route-schemas.ts';

type Descriptions<Name extends string> = Readonly<Record<Name, RouteDescription>>;

const ofCollection = { collection: describeParameter('The name of the collection.') };
const ofField = { ...ofCollection, field: describeParameter('The name of the field.') };

/** Errors of changes that existing rows or the schema do not allow. */
const errors: readonly ErrorCode[] = [
  'CONTAINS_NULL_VALUES',
  'FAILED_VALIDATION',
  'INVALID_FOREIGN_KEY',
  'RECORD_NOT_UNIQUE',
  'ROUTE_NOT_FOUND',
  'VALUE_OUT_OF_RANGE',
  'VALUE_TOO_LONG',
];

const collections = { tag: 'collections', components: collectionRouteOpenapiComponents } as const;
const fields = { tag: 'fields', components: collectionRouteOpenapiComponents } as const;
const relations = { tag: 'relations', components: collectionRouteOpenapiComponents } as const;
const reads = { access: 'permissions', errors: ['ROUTE_NOT_FOUND'] } as const;
const changes = { access: 'admin', errors } as const;

export const COLLECTION_ROUTE_DESCRIPTIONS: Descriptions<
  'list' | 'search' | 'one' | 'create' | 'updateMany' | 'update' | 'remove'
> = {
  list: {
    ...collections,
    ...reads,
    summary:
      'Lists the collections that the caller may read, and the folders among them; to admins also the tables that are not served, if any.',
    answers: describeDataAnswer(
      listSchema(schemaRef('Collection')),
      objectSchema({
        unserved: listSchema(objectSchema({ schema: TEXT_SCHEMA, name: TEXT_SCHEMA, reason: TEXT_SCHEMA })),
      }),
    ),
  },
  search: {
    ...collections,
    ...reads,
    summary: 'Lists the collections with these names, or all of them.',
    // A list body has no member "keys" and means all collections.
    body: describeJsonBody(anyOfSchema(objectSchema({ keys: listSchema(TEXT_SCHEMA) }), listSchema(ANY_VALUE_SCHEMA)), {
      required: false,
    }),
    answers: describeDataAnswer(listSchema(schemaRef('Collection'))),
  },
  one: {
    ...collections,
    ...reads,
    summary: 'Reads one collection.',
    params: ofCollection,
    answers: describeDataAnswer(schemaRef('Collection')),
  },
  create: {
    ...collections,
    ...changes,
    summary: 'Creates collections, each with a table and its fields or as a folder.',
    body: describeJsonBody(oneOrListSchema('NewCollection')),
    answers: describeDataAnswer(oneOrListSchema('Collection')),
  },
  updateMany: {
    ...collections,
    ...changes,
    summary: 'Changes several collections, all of them or none.',
    body: describeJsonBody(listSchema(buildChangeListElementSchema('collection', 'CollectionChange'))),
    answers: describeDataAnswer(listSchema(schemaRef('Collection'))),
  },
  update: {
    ...collections,
    ...changes,
    summary: 'Changes one collection; 204 where it is no collection any more.',
    params: ofCollection,
    body: describeJsonBody(schemaRef('CollectionChange')),
    answers: { ...describeDataAnswer(schemaRef('Collection')), ...NO_CONTENT_ANSWER_DESCRIPTION },
  },
  remove: {
    ...collections,
    ...changes,
    summary: 'Deletes one collection with its table and everything that refers to it.',
    params: ofCollection,
    answers: NO_CONTENT_ANSWER_DESCRIPTION,
  },
};

export const FIELD_ROUTE_DESCRIPTIONS: Descriptions<
  'list' | 'of' | 'one' | 'create' | 'updateMany' | 'update' | 'remove'
> = {
  list: {
    ...fields,
    ...reads,
    summary: 'Lists the fields of all collections that the caller may read.',
    answers: describeDataAnswer(listSchema(schemaRef('Field'))),
  },
  of: {
    ...fields,
    ...reads,
    summary: 'Lists the fields of one collection.',
    params: ofCollection,
    answers: describeDataAnswer(listSchema(schemaRef('Field'))),
  },
  one: {
    ...fields,
    ...reads,
    summary: 'Reads one field.',
    params: ofField,
    answers: describeDataAnswer(schemaRef('Field')),
  },
  create: {
    ...fields,
    ...changes,
    summary: 'Creates a field, with a column where its type has one.',
    params: ofCollection,
    body: describeJsonBody(schemaRef('NewField')),
    answers: describeDataAnswer(schemaRef('Field')),
  },
  updateMany: {
    ...fields,
    ...changes,
    summary: 'Changes several fields of a collection, all of them or none.',
    params: ofCollection,
    body: describeJsonBody(listSchema(buildChangeListElementSchema('field', 'FieldChange'))),
    answers: describeDataAnswer(listSchema(schemaRef('Field'))),
  },
  update: {
    ...fields,
    ...changes,
    summary: 'Changes one field.',
    params: ofField,
    body: describeJsonBody(schemaRef('FieldChange')),
    answers: describeDataAnswer(schemaRef('Field')),
  },
  remove: {
    ...fields,
    ...changes,
    summary: 'Deletes one field with its column and its relation.',
    params: ofField,
    answers: NO_CONTENT_ANSWER_DESCRIPTION,
  },
};

export const RELATION_ROUTE_DESCRIPTIONS: Descriptions<'list' | 'of' | 'one' | 'create' | 'update' | 'remove'> = {
  list: {
    ...relations,
    ...reads,
    summary: 'Lists the relations between collections and fields that the caller may read.',
    answers: describeDataAnswer(listSchema(schemaRef('Relation'))),
  },
  of: {
    ...relations,
    ...reads,
    summary: 'Lists the relations of the fields of one collection.',
    params: ofCollection,
    answers: describeDataAnswer(listSchema(schemaRef('Relation'))),
  },
  one: {
    ...relations,
    ...reads,
    summary: 'Reads the relation of one field.',
    params: ofField,
    answers: describeDataAnswer(schemaRef('Relation')),
  },
  create: {
    ...relations,
    ...changes,
    summary: 'Creates a relation of a field, with a foreign key where it leads to one collection.',
    body: describeJsonBody(schemaRef('NewRelation')),
    answers: describeDataAnswer(schemaRef('Relation')),
  },
  update: {
    ...relations,
    ...changes,
    summary: 'Changes one relation.',
    params: ofField,
    body: describeJsonBody(schemaRef('RelationChange')),
    answers: describeDataAnswer(schemaRef('Relation')),
  },
  remove: {
    ...relations,
    ...changes,
    summary: 'Deletes one relation with its foreign key; the columns stay.',
    params: ofField,
    answers: NO_CONTENT_ANSWER_DESCRIPTION,
  },
};
