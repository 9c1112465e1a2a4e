import type { Read } from '../../query/contract.ts';

const LITERAL = /^(?:'((?:[^']|'')*)'(?:::[\w\s"(),.[\]]+)?|(-?\d+(?:\.\d+)?)|(true|false))$/;

/**
 * What a singleton without its row reads as (conventions, "Singletons"): the key as null and the asked fields that have
 * a literal default. Expressions such as `now()` are left to the row that will be.
 */
export function singletonDefaults(read: Read): string {
  const shown = read.pick.flatMap((pick): [string, unknown][] => {
    if (pick.kind !== 'column') return [];
    if (pick.field.name === read.collection.primary) return [[pick.key, null]];
    const literal = LITERAL.exec(pick.field.column?.default ?? '');
    if (!literal || pick.field.concealed) return [];
    const [, text, number, boolean] = literal;
    if (text !== undefined)
      return [[pick.key, pick.field.type === 'json' ? JSON.parse(text) : text.replaceAll("''", "'")]];
    return [[pick.key, number !== undefined ? Number(number) : boolean === 'true']];
  });
  return JSON.stringify(Object.fromEntries(shown));
}
