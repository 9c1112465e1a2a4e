import type { FragmentDefinitionNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { GraphqlDocumentLimits } from './limits.ts';
import { parseGraphqlDocument } from './parse.ts';
import { fragmentDefinitionsOf, operationDefinitionsOf } from './selection-size.ts';
import { assertValidGraphqlDocument } from './validate.ts';

/** A document that was validated against a schema. */
export interface ValidatedGraphqlDocument {
  /** Unique in this process, for cache keys. The same text in another schema has another id. */
  readonly id: number;
  /** Operations by name; an anonymous one by the empty text. */
  readonly operations: ReadonlyMap<string, OperationDefinitionNode>;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/** The valid documents of one schema, by their text. */
export interface GraphqlDocumentCache {
  /** Parses and validates a text, or takes it from the cache. @throws DocumentFailure for an invalid document. */
  get(text: string): ValidatedGraphqlDocument;
}

export type CreateGraphqlDocumentCache = (schema: GraphQLSchema) => GraphqlDocumentCache;

/** Tokens of all cached documents: a token costs some 250 bytes, so the cache stays below about 50 MB. */
const MAX_TOKENS = 200_000;
/** Overhead of a document in tokens: the smallest documents cost some 5 KB. */
const TOKENS_PER_DOCUMENT = 20;
const CHARACTERS_PER_TOKEN = 100;

interface CachedDocument {
  readonly document: ValidatedGraphqlDocument;
  readonly size: number;
}

/**
 * Creates a document cache for each schema. All share one memory limit: there may be a hundred schemas, and any client
 * can send documents that are never sent again. Invalid documents are not cached.
 */
export function createGraphqlDocumentCaches(limits: GraphqlDocumentLimits): CreateGraphqlDocumentCache {
  const cache = new LRUCache<string, CachedDocument>({ maxSize: MAX_TOKENS, sizeCalculation: ({ size }) => size });
  let schemas = 0;
  let documents = 0;

  return (schema) => {
    const schemaId = ++schemas;
    return {
      get(text) {
        const key = `${schemaId} ${text}`;
        const cached = cache.get(key);
        if (cached) return cached.document;
        const { node, tokens } = parseGraphqlDocument(text, limits);
        assertValidGraphqlDocument(node, schema, limits);
        const document: ValidatedGraphqlDocument = {
          id: ++documents,
          operations: new Map(operationDefinitionsOf(node).map((one) => [one.name?.value ?? '', one])),
          fragments: fragmentDefinitionsOf(node),
        };
        const size = TOKENS_PER_DOCUMENT + tokens + Math.ceil(text.length / CHARACTERS_PER_TOKEN);
        cache.set(key, { document, size });
        return document;
      },
    };
  };
}
