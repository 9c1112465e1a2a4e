import { fail } from '#kernel';
import { nearestName } from '../../workers/library.ts';

export type QueryPath = readonly (string | number)[];

/** Every complaint about a query names the place it is about. */
export const invalidQuery = (reason: string, path: QueryPath) =>
  fail('INVALID_QUERY', `${path.join('.')}: ${reason}`, { path });

/** What a misspelt word of the query language most likely means, as the end of a message. */
export function suggestionFor(word: string, words: Iterable<string>): string {
  const nearest = nearestName(word, words);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}

/** Levels of brackets or JSON a query may have, whatever they mean. */
const MAX_LEVELS = 100;

export function assertNesting(path: QueryPath): void {
  if (path.length > MAX_LEVELS) throw invalidQuery(`is nested deeper than ${MAX_LEVELS} levels`, path.slice(0, 3));
}

/**
 * Where a parameter of a node stands: `limit` at the root, `deep.comments._limit` further down, and in a selection
 * `comments.limit`.
 */
export const parameterPath = (node: QueryPath, name: string): QueryPath => [
  ...node,
  node[0] === 'deep' ? `_${name}` : name,
];

/** Where the node of a relation stands: `deep.author`, below it `deep.author.posts`. */
export const relationPath = (node: QueryPath, name: string): QueryPath => [
  ...(node.length === 0 ? ['deep'] : node),
  name,
];

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A parameter that may come as JSON text in a query string. */
export function parseJson(value: unknown, path: QueryPath): unknown {
  if (typeof value !== 'string') return value;
  if (value === '') return undefined;
  try {
    return JSON.parse(value);
  } catch {
    throw invalidQuery('is not valid JSON', path);
  }
}

/** A comma list or an array of texts; an index-keyed object is what long bracket lists arrive as. */
export function parseList(value: unknown, path: QueryPath): readonly string[] {
  if (value === undefined || value === null || value === '') return [];
  const list = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [value];
  return list.flatMap((entry) => {
    if (typeof entry !== 'string') throw invalidQuery('must be a list of names', path);
    return splitOutsideParentheses(entry)
      .map((part) => part.trim())
      .filter(Boolean);
  });
}

function splitOutsideParentheses(text: string): readonly string[] {
  if (!text.includes('(')) return text.split(',');
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')') depth--;
    else if (text[at] === ',' && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...parts, text.slice(from)];
}
