import type { Projection, ReadNode } from '../../query/contract.ts';
import { applyEnumLabels } from '../../query/library.ts';

type ColumnProjection = Extract<Projection, { kind: 'column' }>;

const DEFAULT_LITERAL = /^(?:'((?:[^']|'')*)'(?:::[\w\s"(),.[\]]+)?|(-?\d+(?:\.\d+)?)|(true|false))$/;

/**
 * What a singleton without a row reads as (conventions, "Singletons"): the key as null, and the requested fields with a
 * literal default. Expressions such as `now()` are omitted until the row exists. A selection has all its entries: null
 * in place of an omitted value, and an empty list.
 */
export function renderSingletonDefaults(read: ReadNode, shape: (row: unknown) => unknown = (row) => row): string {
  const { projections: pick, collection } = read;
  return JSON.stringify(
    shape(read.exact ? completeDefaultsOf(pick, collection.primary) : literalDefaultsOf(pick, collection.primary)),
  );
}

const literalDefaultsOf = (picks: readonly Projection[], primary: string | null): object =>
  Object.fromEntries(
    picks.flatMap((pick) => {
      const value = pick.kind === 'column' ? literalDefaultOf(pick, primary) : undefined;
      return value === undefined ? [] : [[pick.key, value]];
    }),
  );

const completeDefaultsOf = (picks: readonly Projection[], primary: string | null): object =>
  Object.fromEntries(picks.map((pick) => [pick.key, completeDefaultOf(pick, primary)]));

function completeDefaultOf(pick: Projection, primary: string | null): unknown {
  switch (pick.kind) {
    case 'constant':
      return pick.value;
    case 'object':
      return completeDefaultsOf(pick.projections, primary);
    case 'column':
      return pick.fn ? null : toRowForm(pick, literalDefaultOf(pick, primary) ?? null);
    case 'many':
    case 'keys':
      return [];
    default:
      return null;
  }
}

/** The default of a column as a value; undefined where the default is no literal. */
function literalDefaultOf({ field }: ColumnProjection, primary: string | null): unknown {
  if (field.name === primary) return null;
  const literal = DEFAULT_LITERAL.exec(field.column?.default ?? '');
  if (!literal || field.concealed) return undefined;
  const [, text, number, boolean] = literal;
  if (text !== undefined) return field.type === 'json' ? JSON.parse(text) : text.replaceAll("''", "'");
  return number !== undefined ? Number(number) : boolean === 'true';
}

/** A default value of a singleton without a row, as a stored row would have it: exact types are texts, unless requested as numbers. */
function toRowForm({ field, as }: ColumnProjection, value: unknown): unknown {
  if (typeof as === 'object') return applyEnumLabels(value, as.labels);
  if (value === null || typeof value === 'object') return value;
  const isExact = field.type === 'bigInteger' || field.type === 'decimal';
  if (as === 'number') return Number.isFinite(Number(value)) ? Number(value) : null;
  return as === 'text' || isExact ? String(value) : value;
}
