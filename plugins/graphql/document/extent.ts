import {
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { beyond, type DocumentLimits } from './limits.ts';

/**
 * Levels of a document beyond its relations: the root field, a function's object (`published_func { year }`) or an
 * aggregate's (`posts_aggregated { avg { views } }`), the value in it, and two that a client may need for wrapping.
 */
const LEVELS_BESIDE_RELATIONS = 5;
/** Of GraphQL's own, which tell of the schema. Tools ask for about two hundred. */
const MAX_SCHEMA_NODES = 1000;
/** Selections inside each other, the fragments they spread included: as many as braces in the text. */
const MAX_NESTED = 100;

interface Extent {
  /** Fields at the top. */
  readonly fields: number;
  /** Fields and fragments in all, as often as they are spread. */
  readonly nodes: number;
  /** Those below `__schema` and `__type`. */
  readonly schemaNodes: number;
  /** Fields inside each other. */
  readonly depth: number;
  /** Selections inside each other. */
  readonly nested: number;
}

const NOTHING: Extent = { fields: 0, nodes: 0, schemaNodes: 0, depth: 0, nested: 0 };

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
export function checkExtent(document: DocumentNode, limits: DocumentLimits): { readonly endless: boolean } {
  const measure = createMeasure(fragmentsOf(document));
  const depth = limits.relations + LEVELS_BESIDE_RELATIONS;
  let nodes = 0;
  let schemaNodes = 0;
  for (const operation of operationsOf(document)) {
    const extent = measure.operation(operation);
    if (extent.fields > limits.rootFields) {
      const most = `the ${limits.rootFields} allowed (GRAPHQL_MAX_ROOT_FIELDS)`;
      throw beyond(`Operation has ${extent.fields} root fields, more than ${most}.`, operation);
    }
    if (extent.depth > depth) {
      const reason = `MAX_RELATIONAL_DEPTH and ${LEVELS_BESIDE_RELATIONS} more`;
      throw beyond(
        `Operation has ${extent.depth} fields inside each other, more than the ${depth} allowed (${reason}).`,
        operation,
      );
    }
    nodes += extent.nodes;
    if (nodes > limits.nodes) throw beyond(asksFor(nodes, 'fields', limits.nodes, ' (QUERY_MAX_NODES)'));
    schemaNodes += extent.schemaNodes;
    if (schemaNodes > MAX_SCHEMA_NODES) throw beyond(asksFor(schemaNodes, 'fields of the schema', MAX_SCHEMA_NODES));
  }
  // Those that nobody spreads are looked at by validation as well.
  measure.rest();
  return { endless: measure.endless() };
}

const asksFor = (count: number, what: string, most: number, setting = ''): string =>
  `Document asks for ${count} ${what}, fragments spread out, more than the ${most} allowed${setting}.`;

function createMeasure(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const known = new Map<string, Extent>();
  const open = new Set<string>();
  let endless = false;

  const named = (name: string, level: number): Extent => {
    const before = known.get(name);
    if (before) {
      if (level + before.nested > MAX_NESTED) throw tooNested(fragments.get(name));
      return before;
    }
    const fragment = fragments.get(name);
    // No such fragment, or inside itself: validation will say so.
    if (!fragment) return NOTHING;
    if (open.has(name)) {
      endless = true;
      return NOTHING;
    }
    open.add(name);
    const extent = of(fragment.selectionSet, level);
    open.delete(name);
    known.set(name, extent);
    return extent;
  };

  const of = (set: SelectionSetNode | undefined, level: number): Extent => {
    if (!set) return NOTHING;
    if (level >= MAX_NESTED) throw tooNested(set);
    let { fields, nodes, schemaNodes, depth, nested } = NOTHING;
    for (const one of set.selections) {
      nodes++;
      const inner =
        one.kind === Kind.FRAGMENT_SPREAD ? named(one.name.value, level + 1) : of(one.selectionSet, level + 1);
      nested = Math.max(nested, inner.nested);
      schemaNodes += inner.schemaNodes;
      const isField = one.kind === Kind.FIELD;
      if (isField && isIntrospection(one)) {
        schemaNodes += inner.nodes;
        continue;
      }
      // `__typename` costs nobody a statement.
      fields += isField ? Number(!one.name.value.startsWith('__')) : inner.fields;
      nodes += inner.nodes;
      depth = Math.max(depth, inner.depth + (isField ? 1 : 0));
    }
    return { fields, nodes, schemaNodes, depth, nested: nested + 1 };
  };

  return {
    operation: ({ selectionSet }: OperationDefinitionNode): Extent => of(selectionSet, 0),
    rest: () => fragments.forEach((_, name) => void named(name, 0)),
    endless: () => endless,
  };
}

const tooNested = (place: ASTNode | undefined) =>
  beyond(`Selections are inside each other deeper than the ${MAX_NESTED} levels allowed, fragments spread out.`, place);
