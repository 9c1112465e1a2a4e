import type { Pick, Read } from '../../query/contract.ts';
import { labelled } from '../../query/library.ts';

type Column = Extract<Pick, { kind: 'column' }>;

const LITERAL = /^(?:'((?:[^']|'')*)'(?:::[\w\s"(),.[\]]+)?|(-?\d+(?:\.\d+)?)|(true|false))$/;

/**
 * What a singleton without its row reads as (conventions, "Singletons"): the key as null and the asked fields that have
 * a literal default. Expressions such as `now()` are left to the row that will be. A selection has all it names: what
 * would be left out is null, and a list empty.
 */
export function singletonDefaults(read: Read, shape: (row: unknown) => unknown = (row) => row): string {
  const { pick, collection } = read;
  return JSON.stringify(shape(read.exact ? all(pick, collection.primary) : some(pick, collection.primary)));
}

const some = (picks: readonly Pick[], primary: string | null): object =>
  Object.fromEntries(
    picks.flatMap((pick) => {
      const value = pick.kind === 'column' ? defaultOf(pick, primary) : undefined;
      return value === undefined ? [] : [[pick.key, value]];
    }),
  );

const all = (picks: readonly Pick[], primary: string | null): object =>
  Object.fromEntries(picks.map((pick) => [pick.key, shown(pick, primary)]));

function shown(pick: Pick, primary: string | null): unknown {
  switch (pick.kind) {
    case 'constant':
      return pick.value;
    case 'object':
      return all(pick.pick, primary);
    case 'column':
      return pick.fn ? null : inForm(pick, defaultOf(pick, primary) ?? null);
    case 'many':
    case 'keys':
      return [];
    default:
      return null;
  }
}

/** Undefined where only the row will know it. */
function defaultOf({ field }: Column, primary: string | null): unknown {
  if (field.name === primary) return null;
  const literal = LITERAL.exec(field.column?.default ?? '');
  if (!literal || field.concealed) return undefined;
  const [, text, number, boolean] = literal;
  if (text !== undefined) return field.type === 'json' ? JSON.parse(text) : text.replaceAll("''", "'");
  return number !== undefined ? Number(number) : boolean === 'true';
}

/** As the row would have it: exact types are texts, unless they are asked for as numbers. */
function inForm({ field, as }: Column, value: unknown): unknown {
  if (typeof as === 'object') return labelled(value, as.labels);
  if (value === null || typeof value === 'object') return value;
  const isExact = field.type === 'bigInteger' || field.type === 'decimal';
  if (as === 'number') return Number.isFinite(Number(value)) ? Number(value) : null;
  return as === 'text' || isExact ? String(value) : value;
}
