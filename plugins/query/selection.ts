import type { RawQuery } from './contract.ts';
import type { AggregateName } from './tree.ts';

// What a read shows, said field by field as a GraphQL document does, instead of by paths. It goes the same way as a query
// with `fields`: through the parser, its ceilings and what the caller may know, to the same tree.

/** The conditions of one node, in the forms a `SEARCH` body has them. */
export type Terms = Pick<RawQuery, 'filter' | 'sort' | 'limit' | 'offset' | 'page' | 'search'>;

/**
 * Another form of a value than that of REST: `text` for a GraphQL `ID`, `number` for a decimal as a JSON number (not a number at
 * all: null), `labels` for values of an enum that have another name, by their texts; the others stay.
 */
export type ColumnForm = 'text' | 'number' | { readonly labels: ReadonlyMap<string, string> };

/** A value, or a list of them, in the form of `labels`, where it was read in the form of REST. */
export const labelled = (value: unknown, labels: ReadonlyMap<string, string>): unknown =>
  Array.isArray(value)
    ? value.map((one) => labelled(one, labels))
    : typeof value === 'string'
      ? (labels.get(value) ?? value)
      : value;

/** The rows of a collection; the answer's objects have exactly the keys of `shown`, in this order. */
export interface Selection {
  readonly terms?: Terms;
  readonly shown: readonly Selected[];
}

/** `key` is what it is called in the answer; no two of a selection are called the same. */
export type Selected =
  | { readonly kind: 'constant'; readonly key: string; readonly value: string | null }
  | {
      readonly kind: 'column';
      readonly key: string;
      readonly field: string;
      /** `{ name: 'year' }`, `{ name: 'json', path: 'a.b[0]' }`. */
      readonly fn?: { readonly name: string; readonly path?: string };
      readonly as?: ColumnForm;
    }
  /** Several of the same row together, as functions of one field are. */
  | { readonly kind: 'object'; readonly key: string; readonly shown: readonly Selected[] }
  /** Behind a many-to-one (a row that `terms` do not match is null; their paging and order have no meaning) or a to-many alias. */
  | { readonly kind: 'related'; readonly key: string; readonly field: string; readonly selection: Selection }
  /** Behind a many-to-any: what is shown of rows of each collection named here. Rows of others are null. */
  | {
      readonly kind: 'any';
      readonly key: string;
      readonly field: string;
      readonly of: Readonly<Record<string, Selection>>;
    };

/** Groups of rows instead of rows. */
export interface GroupSelection {
  readonly terms?: Terms & Pick<RawQuery, 'groupBy'>;
  readonly groups: readonly SelectedGroup[];
}

/** One member of a group in the answer, under `key`. */
export type SelectedGroup =
  | { readonly kind: 'constant'; readonly key: string; readonly value: string | null }
  /** The values grouped by, as an object by their names in REST (`published_year`). */
  | { readonly kind: 'groups'; readonly key: string }
  /** How many rows there are. */
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

/** What a query has as `aggregate` that asks for the same. */
export function aggregateOf(groups: readonly SelectedGroup[]): Readonly<Record<string, readonly string[]>> {
  const requested: Record<string, string[]> = {};
  for (const one of groups) {
    if (one.kind === 'count') requested.countAll = ['*'];
    if (one.kind !== 'aggregate') continue;
    const fields = one.of.flatMap((inner) => (inner.kind === 'field' ? [inner.field] : []));
    if (fields.length > 0) requested[one.name] = [...new Set([...(requested[one.name] ?? []), ...fields])];
  }
  return requested;
}
