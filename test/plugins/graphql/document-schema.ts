import { buildSchema, type GraphQLSchema } from 'graphql';
import {
  createGraphqlDocumentCaches,
  type GraphqlDocumentCache,
} from '../../../plugins/graphql/document/document-cache.ts';
import { GraphqlDocumentFailure } from '../../../plugins/graphql/document/failure.ts';

type DocumentLimits = Parameters<typeof createGraphqlDocumentCaches>[0];

/** The default limits of GraphQL documents. */
export const DEFAULT_DOCUMENT_LIMITS: DocumentLimits = {
  tokens: 5000,
  aliases: 100,
  rootFields: 50,
  relations: 10,
  nodes: 2000,
  introspection: true,
};

const collectionSdl = (name: string) => `
  type ${name} {
    id: ID! title: String views: Int author: ${name}
    comments(filter: ${name}_filter, limit: Int): [${name}]
    ${Array.from({ length: 15 }, (_, at) => `field_${at}: String`).join(' ')}
  }
  input ${name}_filter { id: operators title: operators author: ${name}_filter _and: [${name}_filter] _or: [${name}_filter] }`;

/** A schema with `posts` and `others` similar collections. */
export function createDocumentTestSchema(others = 0): GraphQLSchema {
  const names = ['posts', ...Array.from({ length: others }, (_, at) => `collection_${at}`)];
  return buildSchema(`
    scalar BigInt scalar GeoJSON scalar StringOrFloat
    input operators { _eq: StringOrFloat _in: [StringOrFloat] }
    type Query { ${names.map((name) => `${name}(filter: ${name}_filter, limit: Int, near: GeoJSON): [${name}!]! ${name}_by_id(id: ID!): ${name}`).join(' ')} }
    type Mutation { delete_posts_item(id: ID!): Boolean }
    ${names.map(collectionSdl).join('\n')}`);
}

/** Creates the caches of parsed documents of several schemas, which share one memory limit. */
export const createTestDocumentCaches = (limits: Partial<DocumentLimits> = {}) =>
  createGraphqlDocumentCaches({ ...DEFAULT_DOCUMENT_LIMITS, ...limits });

/** Creates the cache of parsed documents of one schema. */
export const createTestDocumentCache = (
  limits: Partial<DocumentLimits> = {},
  schema = createDocumentTestSchema(),
): GraphqlDocumentCache => createTestDocumentCaches(limits)(schema);

/** Parses and validates a document: the failure of an invalid one, undefined for a valid one. Other errors are thrown. */
export function findDocumentRefusal(documents: GraphqlDocumentCache, text: string): GraphqlDocumentFailure | undefined {
  try {
    documents.get(text);
    return undefined;
  } catch (error) {
    if (error instanceof GraphqlDocumentFailure) return error;
    throw error;
  }
}

/** Returns the failure of a document that must be invalid. @throws Error for a valid one. */
export function expectDocumentRefusal(documents: GraphqlDocumentCache, text: string): GraphqlDocumentFailure {
  const failure = findDocumentRefusal(documents, text);
  if (failure) return failure;
  throw new Error(`not refused: ${text.slice(0, 100)}`);
}

/** Returns the DocumentFailure of an operation. @throws Error where the operation runs, or fails in another way. */
export async function expectOperationRefusal(operation: Promise<unknown>): Promise<GraphqlDocumentFailure> {
  const answer = await operation.catch((error: unknown) => {
    if (error instanceof GraphqlDocumentFailure) return error;
    throw error;
  });
  if (answer instanceof GraphqlDocumentFailure) return answer;
  throw new Error('the operation was not refused');
}
