import { buildSchema, type GraphQLSchema } from 'graphql';
import { createDocumentCaches, type DocumentCache } from '../../../plugins/graphql/document/document-cache.ts';
import { DocumentFailure } from '../../../plugins/graphql/document/failure.ts';
import type { DocumentLimits } from '../../../plugins/graphql/document/limits.ts';

/** The defaults of the settings. */
export const DEFAULT_LIMITS: DocumentLimits = {
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
export function createTestSchema(others = 0): GraphQLSchema {
  const names = ['posts', ...Array.from({ length: others }, (_, at) => `collection_${at}`)];
  return buildSchema(`
    scalar BigInt scalar GeoJSON scalar StringOrFloat
    input operators { _eq: StringOrFloat _in: [StringOrFloat] }
    type Query { ${names.map((name) => `${name}(filter: ${name}_filter, limit: Int, near: GeoJSON): [${name}!]! ${name}_by_id(id: ID!): ${name}`).join(' ')} }
    type Mutation { delete_posts_item(id: ID!): Boolean }
    ${names.map(collectionSdl).join('\n')}`);
}

export const createTestDocuments = (limits: Partial<DocumentLimits> = {}, schema = createTestSchema()): DocumentCache =>
  createDocumentCaches({ ...DEFAULT_LIMITS, ...limits })(schema);

/** The failure of an invalid document. @throws Error for a valid one. */
export function expectRefusal(documents: DocumentCache, text: string): DocumentFailure {
  try {
    documents.get(text);
  } catch (error) {
    if (error instanceof DocumentFailure) return error;
    throw error;
  }
  throw new Error(`not refused: ${text.slice(0, 100)}`);
}
