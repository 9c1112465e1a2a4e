import {
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  isAbstractType,
  Kind,
  type NamedTypeNode,
  type SelectionSetNode,
  type VariableValues,
} from 'graphql';

/** The schema, fragments and variables for reading a document. */
export interface GraphqlDocumentContext {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: VariableValues;
  /** Counts every visited entry of a document; throws over the limit. */
  readonly spend: () => void;
}

/** All field nodes of one response key. */
export interface CollectedField {
  readonly key: string;
  readonly field: GraphQLField<unknown, unknown>;
  /** One or more nodes of the same field, with the same arguments. */
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
}

/**
 * CollectFields of the GraphQL specification: the selected fields of an object type in the order of the response.
 * Fragments are expanded, those for other types left out, and fields with one response key merged.
 */
export function collectFields(
  context: GraphqlDocumentContext,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): readonly CollectedField[] {
  const nodesByKey = new Map<string, [FieldNode, ...FieldNode[]]>();
  const visitedFragments = new Set<string>();
  const visitSelections = (set: SelectionSetNode): void => {
    for (const one of set.selections) {
      context.spend();
      if (one.directives?.length && !isIncluded(context, one.directives)) continue;
      if (one.kind === Kind.FIELD) {
        const key = (one.alias ?? one.name).value;
        const same = nodesByKey.get(key);
        if (same) same.push(one);
        else nodesByKey.set(key, [one]);
      } else if (one.kind === Kind.INLINE_FRAGMENT) {
        if (appliesTo(context, type, one.typeCondition)) visitSelections(one.selectionSet);
      } else if (!visitedFragments.has(one.name.value)) {
        // A fragment that is spread again in the same place adds nothing.
        visitedFragments.add(one.name.value);
        const fragment = context.fragments.get(one.name.value);
        if (fragment && appliesTo(context, type, fragment.typeCondition)) visitSelections(fragment.selectionSet);
      }
    }
  };
  sets.forEach(visitSelections);
  return [...nodesByKey].map(([key, nodes]) => ({
    key,
    nodes,
    field: fieldOfType(context, type, nodes[0].name.value),
  }));
}

/** The selection sets of merged fields. */
export const selectionSetsOf = (nodes: readonly FieldNode[]): readonly SelectionSetNode[] =>
  nodes.flatMap(({ selectionSet }) => selectionSet ?? []);

function fieldOfType(
  { schema }: GraphqlDocumentContext,
  type: GraphQLObjectType,
  name: string,
): GraphQLField<unknown, unknown> {
  const field = schema.getField(type, name);
  if (!field) throw new Error(`${type.name} has no field ${name}, although the document is valid`);
  return field;
}

function isIncluded({ variables }: GraphqlDocumentContext, directives: readonly DirectiveNode[]): boolean {
  const skip = getDirectiveValues(GraphQLSkipDirective, { directives }, variables);
  const include = getDirectiveValues(GraphQLIncludeDirective, { directives }, variables);
  return skip?.if !== true && include?.if !== false;
}

function appliesTo(
  { schema }: GraphqlDocumentContext,
  type: GraphQLObjectType,
  condition: NamedTypeNode | undefined,
): boolean {
  if (!condition || condition.name.value === type.name) return true;
  const conditionType = schema.getType(condition.name.value);
  return isAbstractType(conditionType) && schema.isSubType(conditionType, type);
}
