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
import { fragmentsOf, isIntrospection, operationsOf } from './extent.ts';
import { beyond } from './limits.ts';

/** What a list of GraphQL's own has about this many of, for a guess at the size of the answer. */
const ENTRIES: Readonly<Record<string, number>> = {
  directives: 5,
  fields: 10,
  inputFields: 10,
  enumValues: 5,
  args: 4,
  interfaces: 2,
  possibleTypes: 4,
};

/** Everything that tools ask for. */
const USUAL = parse(
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
 * The schema is told about as often and as deep as asked, and of a large one that is long. A document may ask for twice what
 * tools do. Only for documents with an end.
 */
export function checkIntrospection(document: DocumentNode, schema: GraphQLSchema): void {
  const types = Object.keys(schema.getTypeMap()).length;
  let most: number | undefined;
  for (const { operation, weight } of weights(document, types)) {
    if (weight === 0) continue;
    most ??= 2 * Math.max(...weights(USUAL, types).map((usual) => usual.weight));
    if (weight > most) throw beyond('Operation asks for more of the schema than twice all of it.', operation);
  }
}

function weights(
  document: DocumentNode,
  types: number,
): readonly { readonly operation: OperationDefinitionNode; readonly weight: number }[] {
  const weigh = createWeigh(fragmentsOf(document), types);
  return operationsOf(document).map((operation) => ({ operation, weight: weigh(operation.selectionSet, false) }));
}

/** `inside` is below `__schema` or `__type`, where everything counts; outside only they do. */
function createWeigh(fragments: ReadonlyMap<string, FragmentDefinitionNode>, types: number) {
  const known = new Map<string, number>();
  const timesOf = (name: string) => (name === 'types' ? types : (ENTRIES[name] ?? 1));

  const weigh = ({ selections }: SelectionSetNode, inside: boolean): number => {
    let weight = 0;
    for (const one of selections) {
      if (one.kind === Kind.FRAGMENT_SPREAD) weight += named(one.name.value, inside);
      else if (one.kind === Kind.INLINE_FRAGMENT) weight += weigh(one.selectionSet, inside);
      else if (inside || isIntrospection(one)) {
        weight += 1 + (one.selectionSet ? timesOf(one.name.value) * weigh(one.selectionSet, true) : 0);
      } else if (one.selectionSet) weight += weigh(one.selectionSet, false);
    }
    return weight;
  };

  const named = (name: string, inside: boolean): number => {
    const key = `${inside} ${name}`;
    const fragment = fragments.get(name);
    let weight = known.get(key);
    if (weight === undefined) {
      weight = fragment ? weigh(fragment.selectionSet, inside) : 0;
      known.set(key, weight);
    }
    return weight;
  };

  return weigh;
}
