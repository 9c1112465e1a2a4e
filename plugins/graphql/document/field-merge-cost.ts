import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { schemaIndependentFailure } from './limits.ts';
import { fragmentDefinitionsOf, operationDefinitionsOf } from './selection-size.ts';

/**
 * Field comparisons that the validation of one document may take. Fields with one response key must be the same field,
 * so GraphQL validation compares each with each, arguments included, and fragments with each other for their fields. A
 * comparison takes about a microsecond; real documents need dozens.
 */
const MAX_COMPARISONS = 20_000;
/** Comparing so many characters of arguments takes as long as comparing two fields without arguments. */
const CHARACTERS_PER_COMPARISON = 8;
/** Comparing two fragments costs so many comparisons of fields. */
const FRAGMENT_COST = 2;

/**
 * Counts in one pass over the fields how many comparisons the validation of a document takes. Only for documents
 * without fragment cycles.
 * @throws DocumentFailure over MAX_COMPARISONS.
 */
export function assertFieldMergeCost(document: DocumentNode): void {
  const fragments = fragmentDefinitionsOf(document);
  let comparisons = 0;

  const countComparisons = (sets: readonly SelectionSetNode[], place: OperationDefinitionNode | FieldNode): void => {
    const { fields, spread } = mergeFields(sets, fragments);
    comparisons += FRAGMENT_COST * pairCount(spread) + spread * fields.size;
    for (const same of fields.values()) comparisons += pairCount(same.length) * comparisonCost(same);
    if (comparisons > MAX_COMPARISONS)
      throw schemaIndependentFailure(
        `Document asks for the same fields, or spreads fragments, too often in one place: ${Math.ceil(comparisons)} comparisons, more than the ${MAX_COMPARISONS} allowed.`,
        place,
      );
    for (const same of fields.values()) {
      const inner = same.flatMap(({ selectionSet }) => selectionSet ?? []);
      if (inner.length > 0) countComparisons(inner, same[0] as FieldNode);
    }
  };

  for (const operation of operationDefinitionsOf(document)) countComparisons([operation.selectionSet], operation);
}

const comparisonCost = (same: readonly FieldNode[]): number =>
  1 + Math.max(...same.map(({ arguments: args }) => sourceLength(args) / CHARACTERS_PER_COMPARISON));

const sourceLength = (args: FieldNode['arguments']): number =>
  args?.length ? (args.at(-1)?.loc?.end ?? 0) - (args[0]?.loc?.start ?? 0) : 0;

const pairCount = (count: number): number => (count * (count - 1)) / 2;

/** The fields of merged selection sets by response key, and the number of fragments they spread. */
function mergeFields(
  sets: readonly SelectionSetNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): { readonly fields: ReadonlyMap<string, readonly FieldNode[]>; readonly spread: number } {
  const fields = new Map<string, FieldNode[]>();
  const spread = new Set<string>();
  const addSelections = ({ selections }: SelectionSetNode): void => {
    for (const one of selections) {
      if (one.kind === Kind.FIELD) {
        const key = (one.alias ?? one.name).value;
        const same = fields.get(key);
        if (same) same.push(one);
        else fields.set(key, [one]);
      } else if (one.kind === Kind.INLINE_FRAGMENT) addSelections(one.selectionSet);
      else if (!spread.has(one.name.value)) {
        spread.add(one.name.value);
        const fragment = fragments.get(one.name.value);
        if (fragment) addSelections(fragment.selectionSet);
      }
    }
  };
  sets.forEach(addSelections);
  return { fields, spread: spread.size };
}
