import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { fragmentsOf, operationsOf } from './extent.ts';
import { beyond } from './limits.ts';

/**
 * Fields with one name in one place of the answer have to be the same field, so validation compares each with each, their
 * arguments included, and fragments with each other for the fields in them. A comparison takes about a microsecond; real
 * documents have dozens.
 */
const MAX_COMPARISONS = 20_000;
/** Of arguments, for as much time as comparing two fields without any takes. */
const CHARACTERS = 8;
/** Two fragments take more of it. */
const FRAGMENTS = 2;

/** Counts what validation would compare, in the time of going through the fields once. Only for documents with an end. */
export function checkComparisons(document: DocumentNode): void {
  const fragments = fragmentsOf(document);
  let comparisons = 0;

  const count = (sets: readonly SelectionSetNode[], place: OperationDefinitionNode | FieldNode): void => {
    const { fields, spread } = merged(sets, fragments);
    comparisons += FRAGMENTS * pairs(spread) + spread * fields.size;
    for (const same of fields.values()) comparisons += pairs(same.length) * weightOf(same);
    if (comparisons > MAX_COMPARISONS)
      throw beyond(
        `Document asks for the same fields, or spreads fragments, too often in one place: ${Math.ceil(comparisons)} comparisons, more than the ${MAX_COMPARISONS} allowed.`,
        place,
      );
    for (const same of fields.values()) {
      const inner = same.flatMap(({ selectionSet }) => selectionSet ?? []);
      if (inner.length > 0) count(inner, same[0] as FieldNode);
    }
  };

  for (const operation of operationsOf(document)) count([operation.selectionSet], operation);
}

const weightOf = (same: readonly FieldNode[]): number =>
  1 + Math.max(...same.map(({ arguments: given }) => lengthOf(given) / CHARACTERS));

const lengthOf = (given: FieldNode['arguments']): number =>
  given?.length ? (given.at(-1)?.loc?.end ?? 0) - (given[0]?.loc?.start ?? 0) : 0;

const pairs = (count: number): number => (count * (count - 1)) / 2;

/** The fields of one place by what they are called in the answer, and how many fragments they came by. */
function merged(
  sets: readonly SelectionSetNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): { readonly fields: ReadonlyMap<string, readonly FieldNode[]>; readonly spread: number } {
  const fields = new Map<string, FieldNode[]>();
  const spread = new Set<string>();
  const add = ({ selections }: SelectionSetNode): void => {
    for (const one of selections) {
      if (one.kind === Kind.FIELD) {
        const key = (one.alias ?? one.name).value;
        const same = fields.get(key);
        if (same) same.push(one);
        else fields.set(key, [one]);
      } else if (one.kind === Kind.INLINE_FRAGMENT) add(one.selectionSet);
      else if (!spread.has(one.name.value)) {
        spread.add(one.name.value);
        const fragment = fragments.get(one.name.value);
        if (fragment) add(fragment.selectionSet);
      }
    }
  };
  sets.forEach(add);
  return { fields, spread: spread.size };
}
