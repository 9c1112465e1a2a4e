import type { FragmentDefinitionNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { fragmentsOf, operationsOf } from './document-size.ts';
import type { DocumentLimits } from './limits.ts';
import { parseDocument } from './parse.ts';
import { assertValidDocument } from './validate.ts';

/** A document that is valid in a schema. */
export interface Document {
  /** Of this process and this schema: no two documents have the same. For keys of memories. */
  readonly id: number;
  /** By name; the only anonymous one by the empty text. */
  readonly operations: ReadonlyMap<string, OperationDefinitionNode>;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/** The documents of one schema, remembered by their text. */
export interface DocumentCache {
  /** Parses and checks it, or knows it already. Throws a DocumentFailure. */
  get(text: string): Document;
}

export type CreateDocumentCache = (schema: GraphQLSchema) => DocumentCache;

/** A token and what is made of it take some 250 bytes, so all documents of the process stay within about 50 MB. */
const MAX_TOKENS = 200_000;
/** What a document takes beside its tokens: the smallest ones weigh some 5 KB. */
const TOKENS_PER_DOCUMENT = 20;
const CHARACTERS_PER_TOKEN = 100;

interface CachedDocument {
  readonly document: Document;
  readonly size: number;
}

/**
 * For each schema its documents, in one memory for all of them: there may be a hundred schemas, and anybody can send documents
 * that nobody will send again. Those that are refused are not remembered.
 */
export function createDocumentCaches(limits: DocumentLimits): CreateDocumentCache {
  const cache = new LRUCache<string, CachedDocument>({ maxSize: MAX_TOKENS, sizeCalculation: ({ size }) => size });
  let schemas = 0;
  let documents = 0;

  return (schema) => {
    const schemaId = ++schemas;
    return {
      get(text) {
        const key = `${schemaId} ${text}`;
        const known = cache.get(key);
        if (known) return known.document;
        const { node, tokens } = parseDocument(text, limits);
        assertValidDocument(node, schema, limits);
        const document: Document = {
          id: ++documents,
          operations: new Map(operationsOf(node).map((one) => [one.name?.value ?? '', one])),
          fragments: fragmentsOf(node),
        };
        const size = TOKENS_PER_DOCUMENT + tokens + Math.ceil(text.length / CHARACTERS_PER_TOKEN);
        cache.set(key, { document, size });
        return document;
      },
    };
  };
}
