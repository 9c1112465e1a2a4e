import type {
  GroupSelection,
  GroupSelectionItem,
  ReadNode,
  RowSelection,
  SelectionItem,
} from '../../query/contract.ts';
import { applyEnumLabels } from '../../query/library.ts';
import { decimalTextToRawJson } from './export/exact-numbers.ts';
import type { RestRowLayout } from './rest-representation.ts';

// Makes the answer to a selection of rows in their REST representation, equal to what PostgreSQL renders without
// listeners.

/** The key under which an item of a many-to-any has the name of its collection. */
export const MANY_TO_ANY_COLLECTION_KEY = '$collection';

type Row = Readonly<Record<string, unknown>>;

export const createRestRowConverter =
  ({ items: shown }: RowSelection, layout: RestRowLayout) =>
  (row: unknown): unknown =>
    isRow(row) ? shapeRow(shown, layout, row) : null;

const shapeRow = (shown: readonly SelectionItem[], layout: RestRowLayout, row: Row): Row =>
  Object.fromEntries(shown.map((one) => [one.key, shapeValue(one, layout, row)]));

function shapeValue(one: SelectionItem, layout: RestRowLayout, row: Row): unknown {
  if (one.kind === 'constant') return one.value;
  if (one.kind === 'object') return shapeRow(one.items, layout, row);
  const key = layout.keys.get(one) as string;
  const value = readMember(row, key);
  if (one.kind === 'column') return toRequestedForm(value, one.as);
  if (one.kind === 'related') {
    const shape = createRestRowConverter(one.selection, layout.nested.get(key) as RestRowLayout);
    return Array.isArray(value) ? value.map(shape) : shape(value);
  }
  const name = isRow(value) ? readMember(value, MANY_TO_ANY_COLLECTION_KEY) : undefined;
  const selection = typeof name === 'string' && Object.hasOwn(one.of, name) ? one.of[name] : undefined;
  return selection
    ? createRestRowConverter(selection, layout.nested.get(`${key}:${name}`) as RestRowLayout)(value)
    : null;
}

/**
 * Creates the conversion of a row of groups to the answer. Exact types are texts in the row and numbers in the answer.
 */
export function createRestGroupConverter(
  { groups }: GroupSelection,
  { aggregate }: ReadNode,
): (row: unknown) => unknown {
  const keys = aggregate?.groups.map(({ key }) => key) ?? [];
  const numbers = new Set(
    aggregate?.functions.flatMap(({ key, use }) => (use && NUMBER_TYPES.has(use.field.type) ? [key] : [])),
  );

  function groupValue(one: GroupSelectionItem, row: Row): unknown {
    if (one.kind === 'constant') return one.value;
    if (one.kind === 'groups')
      return keys.length === 0 ? null : Object.fromEntries(keys.map((key) => [key, readMember(row, key)]));
    if (one.kind === 'count') return readMember(row, 'countAll');
    const results = readMember(row, one.name);
    return Object.fromEntries(
      one.of.map((inner) => {
        if (inner.kind === 'constant') return [inner.key, inner.value];
        const value = isRow(results) ? readMember(results, inner.field) : results;
        return [inner.key, toRequestedForm(value, numbers.has(inner.field) ? 'number' : undefined)];
      }),
    );
  }

  return (row) => (isRow(row) ? Object.fromEntries(groups.map((one) => [one.key, groupValue(one, row)])) : null);
}

const NUMBER_TYPES: ReadonlySet<string> = new Set(['integer', 'bigInteger', 'decimal', 'float']);

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

const readMember = (row: Row, key: string): unknown => (Object.hasOwn(row, key) ? (row[key] ?? null) : null);

/** Converts a value to the output format `as`. Lists and objects are returned unchanged. */
function toRequestedForm(value: unknown, as: Extract<SelectionItem, { kind: 'column' }>['as']): unknown {
  if (typeof as === 'object') return applyEnumLabels(value, as.labels);
  if (typeof value === 'object' || as === undefined) return value;
  if (as === 'text') return String(value);
  return typeof value === 'string' ? decimalTextToRawJson(value) : value;
}
