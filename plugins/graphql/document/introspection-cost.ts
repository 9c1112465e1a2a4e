import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getIntrospectionQuery,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
} from 'graphql';
import { schemaIndependentFailure } from './limits.ts';
import { fragmentDefinitionsOf, isIntrospectionField, operationDefinitionsOf } from './selection-size.ts';

/** Typical lengths of the lists of introspection, to estimate the size of the answer. */
const TYPICAL_LIST_SIZES: Readonly<Record<string, number>> = {
  directives: 5,
  fields: 10,
  inputFields: 10,
  enumValues: 5,
  args: 4,
  interfaces: 2,
  possibleTypes: 4,
};

/** The introspection query of tools, with all options. */
const STANDARD_QUERY = parse(
  getIntrospectionQuery({
    descriptions: true,
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
    oneOf: true,
  }),
  { noLocation: true },
);

/**
 * Estimates the size of the introspection that a document selects, which may be repeated and nested. A document may
 * select twice as much as tools do. Only for documents without fragment cycles.
 * @throws DocumentFailure
 */
export function assertIntrospectionCost(document: DocumentNode, schema: GraphQLSchema): void {
  const types = Object.keys(schema.getTypeMap()).length;
  let most: number | undefined;
  for (const { operation, cost } of measureOperations(document, types)) {
    if (cost === 0) continue;
    most ??= 2 * Math.max(...measureOperations(STANDARD_QUERY, types).map((usual) => usual.cost));
    if (cost > most)
      throw schemaIndependentFailure('Operation asks for more of the schema than twice all of it.', operation);
  }
}

function measureOperations(
  document: DocumentNode,
  types: number,
): readonly { readonly operation: OperationDefinitionNode; readonly cost: number }[] {
  const weigh = createCostFunction(fragmentDefinitionsOf(document), types);
  return operationDefinitionsOf(document).map((operation) => ({
    operation,
    cost: weigh(operation.selectionSet, false),
  }));
}

/**
 * Creates a function that estimates the cost of a selection set. `inside`: below `__schema` or `__type`, where every
 * field counts. Outside only these two count.
 */
function createCostFunction(fragments: ReadonlyMap<string, FragmentDefinitionNode>, types: number) {
  const fragmentCosts = new Map<string, number>();
  const listSize = (name: string) => (name === 'types' ? types : (TYPICAL_LIST_SIZES[name] ?? 1));

  const costOf = ({ selections }: SelectionSetNode, inside: boolean): number => {
    let weight = 0;
    for (const one of selections) {
      if (one.kind === Kind.FRAGMENT_SPREAD) weight += fragmentCost(one.name.value, inside);
      else if (one.kind === Kind.INLINE_FRAGMENT) weight += costOf(one.selectionSet, inside);
      else if (inside || isIntrospectionField(one)) {
        weight += 1 + (one.selectionSet ? listSize(one.name.value) * costOf(one.selectionSet, true) : 0);
      } else if (one.selectionSet) weight += costOf(one.selectionSet, false);
    }
    return weight;
  };

  const fragmentCost = (name: string, inside: boolean): number => {
    const key = `${inside} ${name}`;
    const fragment = fragments.get(name);
    let weight = fragmentCosts.get(key);
    if (weight === undefined) {
      weight = fragment ? costOf(fragment.selectionSet, inside) : 0;
      fragmentCosts.set(key, weight);
    }
    return weight;
  };

  return costOf;
}
