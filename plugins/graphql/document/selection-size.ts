import {
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { type GraphqlDocumentLimits, schemaIndependentFailure } from './limits.ts';

/**
 * Levels of a document besides its relations: the root field, the object of a function (`published_func { year }`) or
 * of an aggregate (`posts_aggregated { avg { views } }`), the value in it, and two spare ones for clients.
 */
const LEVELS_BESIDE_RELATIONS = 5;
/** Introspection fields of a document. Tools select about two hundred. */
const MAX_SCHEMA_NODES = 1000;
/** Nested selections, with their fragments expanded; the same limit as for braces in the text. */
const MAX_NESTING = 100;

interface SelectionSize {
  /** Root fields. */
  readonly fields: number;
  /** All fields and fragments, counted as often as they are spread. */
  readonly nodes: number;
  /** Fields below `__schema` and `__type`. */
  readonly schemaNodes: number;
  /** Levels of nested fields. */
  readonly depth: number;
  /** Levels of nested selection sets. */
  readonly nesting: number;
}

const EMPTY_SIZE: SelectionSize = { fields: 0, nodes: 0, schemaNodes: 0, depth: 0, nesting: 0 };

export const operationDefinitionsOf = (document: DocumentNode): readonly OperationDefinitionNode[] =>
  document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);

export const fragmentDefinitionsOf = (document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> =>
  new Map(
    document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION).map((one) => [one.name.value, one]),
  );

/** Introspection fields answer the schema and no rows, so they have limits of their own. */
export const isIntrospectionField = ({ name }: FieldNode): boolean =>
  name.value === '__schema' || name.value === '__type';

/**
 * Measures operations with their fragments expanded. Each fragment is measured once, so this takes no longer than
 * parsing. Returns whether fragments form a cycle: then the size is infinite, and validation reports the cycle.
 * @throws DocumentFailure over a limit.
 */
export function assertSelectionSize(
  document: DocumentNode,
  limits: GraphqlDocumentLimits,
): { readonly hasFragmentCycle: boolean } {
  const measure = createMeasure(fragmentDefinitionsOf(document));
  const depth = limits.relations + LEVELS_BESIDE_RELATIONS;
  let nodes = 0;
  let schemaNodes = 0;
  for (const operation of operationDefinitionsOf(document)) {
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
  // Validation visits unused fragments as well.
  measure.measureFragments();
  return { hasFragmentCycle: measure.endless() };
}

const sizeMessage = (count: number, what: string, most: number, setting = ''): string =>
  `Document asks for ${count} ${what}, fragments spread out, more than the ${most} allowed${setting}.`;

function createMeasure(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const known = new Map<string, SelectionSize>();
  const open = new Set<string>();
  let hasCycle = false;

  const measureFragment = (name: string, level: number): SelectionSize => {
    const measured = known.get(name);
    if (measured) {
      if (level + measured.nesting > MAX_NESTING) throw createNestingFailure(fragments.get(name));
      return measured;
    }
    const fragment = fragments.get(name);
    // An unknown fragment or a cycle: validation reports it.
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

  const measureSelection = (set: SelectionSetNode | undefined, level: number): SelectionSize => {
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
      if (isField && isIntrospectionField(one)) {
        schemaNodes += innerSize.nodes;
        continue;
      }
      // `__typename` needs no statement.
      fields += isField ? Number(!one.name.value.startsWith('__')) : innerSize.fields;
      nodes += innerSize.nodes;
      depth = Math.max(depth, innerSize.depth + (isField ? 1 : 0));
    }
    return { fields, nodes, schemaNodes, depth, nesting: nesting + 1 };
  };

  return {
    operation: ({ selectionSet }: OperationDefinitionNode): SelectionSize => measureSelection(selectionSet, 0),
    measureFragments: () => fragments.forEach((_, name) => void measureFragment(name, 0)),
    endless: () => hasCycle,
  };
}

const createNestingFailure = (place: ASTNode | undefined) =>
  schemaIndependentFailure(
    `Selections are inside each other deeper than the ${MAX_NESTING} levels allowed, fragments spread out.`,
    place,
  );
