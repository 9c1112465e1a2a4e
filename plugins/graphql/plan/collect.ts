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
export interface Reading {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: VariableValues;
  /** Told of every entry that is looked at; throws when there were too many. */
  readonly spend: () => void;
}

/** All that a document says about one key of an answer. */
export interface Collected {
  readonly key: string;
  readonly field: GraphQLField<unknown, unknown>;
  /** One or more, of the same field and with the same arguments. */
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
}

/**
 * CollectFields of the GraphQL specification: what is asked of objects of a type, in the order of the answer. Fragments are
 * followed, those for other types left out, and fields of one response key are one.
 */
export function collect(
  reading: Reading,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): readonly Collected[] {
  const found = new Map<string, [FieldNode, ...FieldNode[]]>();
  const followed = new Set<string>();
  const visit = (set: SelectionSetNode): void => {
    for (const one of set.selections) {
      reading.spend();
      if (one.directives?.length && !isIncluded(reading, one.directives)) continue;
      if (one.kind === Kind.FIELD) {
        const key = (one.alias ?? one.name).value;
        const same = found.get(key);
        if (same) same.push(one);
        else found.set(key, [one]);
      } else if (one.kind === Kind.INLINE_FRAGMENT) {
        if (fits(reading, type, one.typeCondition)) visit(one.selectionSet);
      } else if (!followed.has(one.name.value)) {
        // What a fragment asks for a second time at the same place is there already.
        followed.add(one.name.value);
        const fragment = reading.fragments.get(one.name.value);
        if (fragment && fits(reading, type, fragment.typeCondition)) visit(fragment.selectionSet);
      }
    }
  };
  sets.forEach(visit);
  return [...found].map(([key, nodes]) => ({ key, nodes, field: fieldOf(reading, type, nodes[0].name.value) }));
}

/** The selection sets of fields that are one. */
export const setsOf = (nodes: readonly FieldNode[]): readonly SelectionSetNode[] =>
  nodes.flatMap(({ selectionSet }) => selectionSet ?? []);

function fieldOf({ schema }: Reading, type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> {
  const field = schema.getField(type, name);
  if (!field) throw new Error(`${type.name} has no field ${name}, although the document is valid`);
  return field;
}

function isIncluded({ variables }: Reading, directives: readonly DirectiveNode[]): boolean {
  const skip = getDirectiveValues(GraphQLSkipDirective, { directives }, variables);
  const include = getDirectiveValues(GraphQLIncludeDirective, { directives }, variables);
  return skip?.if !== true && include?.if !== false;
}

function fits({ schema }: Reading, type: GraphQLObjectType, condition: NamedTypeNode | undefined): boolean {
  if (!condition || condition.name.value === type.name) return true;
  const wanted = schema.getType(condition.name.value);
  return isAbstractType(wanted) && schema.isSubType(wanted, type);
}
