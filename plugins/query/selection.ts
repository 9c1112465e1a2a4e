import type { RawQuery } from './contract.ts';
import type { AggregateName } from './tree.ts';

// A selection names fields one by one, as a GraphQL document does, instead of by paths in `fields`. The parser makes the same tree of
// it as of a query, under the same ceilings and the same visibility of fields.

/** The parameters of one node of a selection, as in a `SEARCH` body. */
export type SelectionListParameters = Pick<RawQuery, 'filter' | 'sort' | 'limit' | 'offset' | 'page' | 'search'>;

/**
 * A format that differs from the REST representation: `text` for a GraphQL `ID`, `number` for a decimal as a JSON number (NaN is
 * null), `labels` for enum values with other names, by their texts. Values without a label are unchanged.
 */
export type ColumnOutputFormat = 'text' | 'number' | { readonly labels: ReadonlyMap<string, string> };

/** Applies `labels` to a value, or to a list of values, in the REST representation. */
export const applyEnumLabels = (value: unknown, labels: ReadonlyMap<string, string>): unknown =>
  Array.isArray(value)
    ? value.map((one) => applyEnumLabels(one, labels))
    : typeof value === 'string'
      ? (labels.get(value) ?? value)
      : value;

/** Selects rows of a collection. The objects of the answer have exactly the keys of `items`, in this order. */
export interface RowSelection {
  readonly parameters?: SelectionListParameters;
  readonly items: readonly SelectionItem[];
}

/** One member of a row. `key` is its name in the answer and is unique within a selection. */
export type SelectionItem =
  | { readonly kind: 'constant'; readonly key: string; readonly value: string | null }
  | {
      readonly kind: 'column';
      readonly key: string;
      readonly field: string;
      /** `{ name: 'year' }`, `{ name: 'json', path: 'a.b[0]' }`. */
      readonly fn?: { readonly name: string; readonly path?: string };
      readonly as?: ColumnOutputFormat;
    }
  /** Several members of a row in one object, such as functions of one field. */
  | { readonly kind: 'object'; readonly key: string; readonly items: readonly SelectionItem[] }
  /**
   * Rows behind a to-many alias, or the row behind a many-to-one. Of a many-to-one, a row that does not match the filter is null, and
   * paging and sort have no effect.
   */
  | { readonly kind: 'related'; readonly key: string; readonly field: string; readonly selection: RowSelection }
  /** The row behind a many-to-any, with one selection per collection. Rows of other collections are null. */
  | {
      readonly kind: 'any';
      readonly key: string;
      readonly field: string;
      readonly of: Readonly<Record<string, RowSelection>>;
    };

/** Selects groups of rows, and functions over them, instead of rows. */
export interface GroupSelection {
  readonly parameters?: SelectionListParameters & Pick<RawQuery, 'groupBy'>;
  readonly groups: readonly GroupSelectionItem[];
}

/** One member of a group in the answer, under `key`. */
export type GroupSelectionItem =
  | { readonly kind: 'constant'; readonly key: string; readonly value: string | null }
  /** The grouped values as an object, by their REST names (`published_year`). */
  | { readonly kind: 'groups'; readonly key: string }
  /** The number of rows. */
  | { readonly kind: 'count'; readonly key: string }
  | {
      readonly kind: 'aggregate';
      readonly key: string;
      readonly name: AggregateName;
      readonly of: readonly (
        | { readonly kind: 'field'; readonly key: string; readonly field: string }
        | { readonly kind: 'constant'; readonly key: string; readonly value: string | null }
      )[];
    };

/** Converts the items of a group selection to the `aggregate` parameter of a query with the same functions. */
export function toAggregateParameter(
  groups: readonly GroupSelectionItem[],
): Readonly<Record<string, readonly string[]>> {
  const functions: Record<string, string[]> = {};
  for (const one of groups) {
    if (one.kind === 'count') functions.countAll = ['*'];
    if (one.kind !== 'aggregate') continue;
    const fields = one.of.flatMap((inner) => (inner.kind === 'field' ? [inner.field] : []));
    if (fields.length > 0) functions[one.name] = [...new Set([...(functions[one.name] ?? []), ...fields])];
  }
  return functions;
}
