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

/** What a document is read with. */
export interface DocumentContext {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: VariableValues;
  /** Told of every entry that is looked at; throws when there were too many. */
  readonly spend: () => void;
}

/** All that a document says about one key of an answer. */
export interface CollectedField {
  readonly key: string;
  readonly field: GraphQLField<unknown, unknown>;
  /** One or more, of the same field and with the same arguments. */
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
}

/**
 * CollectFields of the GraphQL specification: what is asked of objects of a type, in the order of the answer. Fragments are
 * followed, those for other types left out, and fields of one response key are one.
 */
export function collectFields(
  context: DocumentContext,
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
        // What a fragment asks for a second time at the same place is there already.
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

/** The selection sets of fields that are one. */
export const selectionSetsOf = (nodes: readonly FieldNode[]): readonly SelectionSetNode[] =>
  nodes.flatMap(({ selectionSet }) => selectionSet ?? []);

function fieldOfType(
  { schema }: DocumentContext,
  type: GraphQLObjectType,
  name: string,
): GraphQLField<unknown, unknown> {
  const field = schema.getField(type, name);
  if (!field) throw new Error(`${type.name} has no field ${name}, although the document is valid`);
  return field;
}

function isIncluded({ variables }: DocumentContext, directives: readonly DirectiveNode[]): boolean {
  const skip = getDirectiveValues(GraphQLSkipDirective, { directives }, variables);
  const include = getDirectiveValues(GraphQLIncludeDirective, { directives }, variables);
  return skip?.if !== true && include?.if !== false;
}

function appliesTo(
  { schema }: DocumentContext,
  type: GraphQLObjectType,
  condition: NamedTypeNode | undefined,
): boolean {
  if (!condition || condition.name.value === type.name) return true;
  const conditionType = schema.getType(condition.name.value);
  return isAbstractType(conditionType) && schema.isSubType(conditionType, type);
}
