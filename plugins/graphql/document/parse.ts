import {
  type DefinitionNode,
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  Kind,
  parse,
  type TypeNode,
  type VariableDefinitionNode,
  visit,
} from 'graphql';
import { GraphqlDocumentFailure } from './failure.ts';
import { type GraphqlDocumentLimits, schemaIndependentFailure } from './limits.ts';

/** Nested braces and brackets, as for JSON bodies, so that no visitor of a document overflows the stack. */
const MAX_NESTING = 100;
/**
 * Characters of a name. Names of PostgreSQL have 63 bytes, and type names add a prefix and a suffix. Error messages
 * repeat names, so they must be short.
 */
const MAX_NAME_LENGTH = 200;
/**
 * Lines of a document for each token of its limit: the graphql package counts lines to locate an error, which takes
 * long for a million empty lines.
 */
const LINES_PER_TOKEN = 2;

/** Names that other services use for types of variables. */
const TYPE_SYNONYMS: Readonly<Record<string, string>> = {
  GraphQLBigInt: 'BigInt',
  GraphQLGeoJSON: 'GeoJSON',
  GraphQLStringOrFloat: 'StringOrFloat',
};

export interface ParsedGraphqlDocument {
  readonly node: DocumentNode;
  readonly tokens: number;
}

/** Parses a text and checks the limits that need no schema. @throws DocumentFailure */
export function parseGraphqlDocument(
  text: string,
  limits: Pick<GraphqlDocumentLimits, 'tokens' | 'aliases'>,
): ParsedGraphqlDocument {
  assertLineCount(text, limits.tokens * LINES_PER_TOKEN);
  const node = parseText(text, limits.tokens);
  assertShape(node, limits.aliases);
  return {
    node: { ...node, definitions: node.definitions.map(withLocalTypeNames) },
    tokens: node.tokenCount ?? 0,
  };
}

function parseText(text: string, tokens: number): DocumentNode {
  try {
    // An empty selection set is invalid GraphQL, which the graphql package accepts by default.
    return parse(text, { maxLexicalTokens: tokens, maxComments: tokens, allowEmptySelectionSets: false });
  } catch (error) {
    if (error instanceof GraphQLError) throw new GraphqlDocumentFailure('INVALID_PAYLOAD', [error]);
    // The parser is recursive and overflows the stack for deeply nested texts.
    if (error instanceof RangeError) throw createNestingFailure();
    throw error;
  }
}

const createNestingFailure = (): GraphqlDocumentFailure =>
  new GraphqlDocumentFailure('INVALID_PAYLOAD', [
    new GraphQLError(`Document is nested deeper than the ${MAX_NESTING} levels allowed.`),
  ]);

function assertLineCount(text: string, most: number): void {
  if (text.length <= most) return;
  let lines = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code === 10 || code === 13) && ++lines > most) {
      const message = `Document has more than ${most} lines (${LINES_PER_TOKEN} for each of GRAPHQL_QUERY_TOKEN_LIMIT).`;
      throw new GraphqlDocumentFailure('INVALID_PAYLOAD', [new GraphQLError(message)]);
    }
  }
}

/** Checks nesting, names, texts and aliases in one pass. @throws DocumentFailure */
function assertShape(document: DocumentNode, maxAliases: number): void {
  let level = 0;
  let aliases = 0;
  let tooMany: FieldNode | undefined;
  const nested = {
    enter() {
      if (++level > MAX_NESTING) throw createNestingFailure();
    },
    leave() {
      level--;
    },
  };
  visit(document, {
    [Kind.SELECTION_SET]: nested,
    [Kind.LIST]: nested,
    [Kind.OBJECT]: nested,
    [Kind.LIST_TYPE]: nested,
    [Kind.NAME]({ value }) {
      if (value.length > MAX_NAME_LENGTH)
        throw schemaIndependentFailure(
          `The name "${value.slice(0, 40)}…" has ${value.length} characters, more than the ${MAX_NAME_LENGTH} allowed.`,
        );
    },
    [Kind.STRING](node) {
      // PostgreSQL cannot store a NUL character; JSON bodies are refused for the same reason.
      if (node.value.includes('\0')) throw schemaIndependentFailure('A text contains a NUL character.', node);
    },
    [Kind.FIELD](node) {
      if (node.alias && ++aliases > maxAliases) tooMany ??= node;
    },
  });
  if (tooMany)
    throw schemaIndependentFailure(
      `Document has ${aliases} aliases, more than the ${maxAliases} allowed (GRAPHQL_MAX_ALIASES).`,
      tooMany,
    );
}

function withLocalTypeNames(definition: DefinitionNode): DefinitionNode {
  if (definition.kind !== Kind.OPERATION_DEFINITION || !definition.variableDefinitions) return definition;
  const variableDefinitions = definition.variableDefinitions.map(
    (one): VariableDefinitionNode => ({ ...one, type: toLocalType(one.type) }),
  );
  return { ...definition, variableDefinitions };
}

function toLocalType<T extends TypeNode>(type: T): T {
  if (type.kind !== Kind.NAMED_TYPE) return { ...type, type: toLocalType(type.type) };
  const localName = Object.hasOwn(TYPE_SYNONYMS, type.name.value) ? TYPE_SYNONYMS[type.name.value] : undefined;
  return localName === undefined ? type : { ...type, name: { ...type.name, value: localName } };
}
