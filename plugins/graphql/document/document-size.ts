import {
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { type DocumentLimits, schemaIndependentFailure } from './limits.ts';

/**
 * Levels of a document beyond its relations: the root field, a function's object (`published_func { year }`) or an
 * aggregate's (`posts_aggregated { avg { views } }`), the value in it, and two that a client may need for wrapping.
 */
const LEVELS_BESIDE_RELATIONS = 5;
/** Of GraphQL's own, which tell of the schema. Tools ask for about two hundred. */
const MAX_SCHEMA_NODES = 1000;
/** Selections inside each other, the fragments they spread included: as many as braces in the text. */
const MAX_NESTING = 100;

interface DocumentSize {
  /** Fields at the top. */
  readonly fields: number;
  /** Fields and fragments in all, as often as they are spread. */
  readonly nodes: number;
  /** Those below `__schema` and `__type`. */
  readonly schemaNodes: number;
  /** Fields inside each other. */
  readonly depth: number;
  /** Selections inside each other. */
  readonly nesting: number;
}

const EMPTY_SIZE: DocumentSize = { fields: 0, nodes: 0, schemaNodes: 0, depth: 0, nesting: 0 };

export const operationsOf = (document: DocumentNode): readonly OperationDefinitionNode[] =>
  document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);

export const fragmentsOf = (document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> =>
  new Map(
    document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION).map((one) => [one.name.value, one]),
  );

/** GraphQL's own fields tell of the schema, not of rows: they are measured by themselves. */
export const isIntrospection = ({ name }: FieldNode): boolean => name.value === '__schema' || name.value === '__type';

/**
 * How large operations are once their fragments are spread out, which takes no longer than reading them: each fragment is
 * measured once. Answers whether fragments spread themselves; then there is no size, and validation says what is wrong.
 */
export function assertDocumentSize(
  document: DocumentNode,
  limits: DocumentLimits,
): { readonly hasFragmentCycle: boolean } {
  const measure = createMeasure(fragmentsOf(document));
  const depth = limits.relations + LEVELS_BESIDE_RELATIONS;
  let nodes = 0;
  let schemaNodes = 0;
  for (const operation of operationsOf(document)) {
    const size = measure.operation(operation);
    if (size.fields > limits.rootFields) {
      const most = `the ${limits.rootFields} allowed (GRAPHQL_MAX_ROOT_FIELDS)`;
      throw schemaIndependentFailure(`Operation has ${size.fields} root fields, more than ${most}.`, operation);
    }
    if (size.depth > depth) {
      const reason = `MAX_RELATIONAL_DEPTH and ${LEVELS_BESIDE_RELATIONS} more`;
      throw schemaIndependentFailure(
        `Operation has ${size.depth} fields inside each other, more than the ${depth} allowed (${reason}).`,
        operation,
      );
    }
    nodes += size.nodes;
    if (nodes > limits.nodes)
      throw schemaIndependentFailure(sizeMessage(nodes, 'fields', limits.nodes, ' (QUERY_MAX_NODES)'));
    schemaNodes += size.schemaNodes;
    if (schemaNodes > MAX_SCHEMA_NODES)
      throw schemaIndependentFailure(sizeMessage(schemaNodes, 'fields of the schema', MAX_SCHEMA_NODES));
  }
  // Those that nobody spreads are looked at by validation as well.
  measure.measureFragments();
  return { hasFragmentCycle: measure.endless() };
}

const sizeMessage = (count: number, what: string, most: number, setting = ''): string =>
  `Document asks for ${count} ${what}, fragments spread out, more than the ${most} allowed${setting}.`;

function createMeasure(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const known = new Map<string, DocumentSize>();
  const open = new Set<string>();
  let hasCycle = false;

  const measureFragment = (name: string, level: number): DocumentSize => {
    const measured = known.get(name);
    if (measured) {
      if (level + measured.nesting > MAX_NESTING) throw createNestingFailure(fragments.get(name));
      return measured;
    }
    const fragment = fragments.get(name);
    // No such fragment, or inside itself: validation will say so.
    if (!fragment) return EMPTY_SIZE;
    if (open.has(name)) {
      hasCycle = true;
      return EMPTY_SIZE;
    }
    open.add(name);
    const extent = measureSelection(fragment.selectionSet, level);
    open.delete(name);
    known.set(name, extent);
    return extent;
  };

  const measureSelection = (set: SelectionSetNode | undefined, level: number): DocumentSize => {
    if (!set) return EMPTY_SIZE;
    if (level >= MAX_NESTING) throw createNestingFailure(set);
    let { fields, nodes, schemaNodes, depth, nesting } = EMPTY_SIZE;
    for (const one of set.selections) {
      nodes++;
      const innerSize =
        one.kind === Kind.FRAGMENT_SPREAD
          ? measureFragment(one.name.value, level + 1)
          : measureSelection(one.selectionSet, level + 1);
      nesting = Math.max(nesting, innerSize.nesting);
      schemaNodes += innerSize.schemaNodes;
      const isField = one.kind === Kind.FIELD;
      if (isField && isIntrospection(one)) {
        schemaNodes += innerSize.nodes;
        continue;
      }
      // `__typename` costs nobody a statement.
      fields += isField ? Number(!one.name.value.startsWith('__')) : innerSize.fields;
      nodes += innerSize.nodes;
      depth = Math.max(depth, innerSize.depth + (isField ? 1 : 0));
    }
    return { fields, nodes, schemaNodes, depth, nesting: nesting + 1 };
  };

  return {
    operation: ({ selectionSet }: OperationDefinitionNode): DocumentSize => measureSelection(selectionSet, 0),
    measureFragments: () => fragments.forEach((_, name) => void measureFragment(name, 0)),
    endless: () => hasCycle,
  };
}

const createNestingFailure = (place: ASTNode | undefined) =>
  schemaIndependentFailure(
    `Selections are inside each other deeper than the ${MAX_NESTING} levels allowed, fragments spread out.`,
    place,
  );
