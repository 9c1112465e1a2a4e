import { type GraphQLObjectType, type GraphQLSchema, getVariableValues, type OperationDefinitionNode } from 'graphql';
import { collectFields } from '../../../../plugins/graphql/plan/collect-fields.ts';
import { toGroupSelection } from '../../../../plugins/graphql/plan/group-selection.ts';
import { graphqlFieldToSelection } from '../../../../plugins/graphql/plan/selection.ts';
import type { GroupSelection, RowSelection } from '../../../../plugins/query/contract.ts';
import { createTestDocumentCache, type DEFAULT_DOCUMENT_LIMITS } from '../document-schema.ts';

type Variables = Readonly<Record<string, unknown>>;
type CallerSchema = ReturnType<typeof createCallerSchema>;
type TranslationContext = Parameters<typeof graphqlFieldToSelection>[0];
type RootField = ReturnType<typeof collectFields>[number];

/** Allows documents of any size; `document-limits.test.ts` tests the limits. */
const NO_LIMITS = { rootFields: 1000, relations: 1000, nodes: Number.MAX_SAFE_INTEGER };

/** A GraphQL schema with its document cache, as the plugin keeps for callers with the same permissions. */
export const createCallerSchema = (
  schema: GraphQLSchema,
  limits: Partial<typeof DEFAULT_DOCUMENT_LIMITS> = NO_LIMITS,
) => ({
  schema,
  scope: 'items' as const,
  version: '1',
  documents: createTestDocumentCache(limits, schema),
});

/** Parses and validates a document and returns its first operation, or the one with this name. */
export function prepareOperation(built: CallerSchema, text: string, variables: Variables = {}, name?: string) {
  const document = built.documents.get(text);
  const node = document.operations.get(name ?? [...document.operations.keys()][0] ?? '');
  if (!node) throw new Error('there is no such operation');
  return { document, node, variables };
}

/** The first root field of an operation, and the context of its translation. */
export function prepareRootField(
  built: CallerSchema,
  text: string,
  variables: Variables = {},
  options: Partial<TranslationContext> = {},
): { readonly root: RootField; readonly context: TranslationContext } {
  const { document, node } = prepareOperation(built, text, variables);
  const context: TranslationContext = {
    schema: built.schema,
    fragments: document.fragments,
    variables: coerceVariables(built, node, variables),
    spend: () => {},
    maxDepth: 10,
    ...options,
  };
  const type = built.schema.getRootType(node.operation) as GraphQLObjectType;
  const [root] = collectFields(context, type, [node.selectionSet]);
  if (!root) throw new Error('the document asks for nothing');
  return { root, context };
}

function coerceVariables({ schema }: CallerSchema, node: OperationDefinitionNode, variables: Variables) {
  const { variableValues, errors } = getVariableValues(schema, node.variableDefinitions ?? [], variables);
  if (!variableValues) throw errors?.[0];
  return variableValues;
}

/** Translates the first root field of a document to what the query engine reads. */
export function translateSelection(...document: Parameters<typeof prepareRootField>): RowSelection {
  const { root, context } = prepareRootField(...document);
  return graphqlFieldToSelection(context, root.field, root.nodes);
}

/** Translates the first root field of a document, which answers groups of rows, to what the query engine reads. */
export function translateGroupSelection(...document: Parameters<typeof prepareRootField>): GroupSelection {
  const { root, context } = prepareRootField(...document);
  return toGroupSelection(context, root.field, root.nodes);
}
