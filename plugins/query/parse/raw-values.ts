import { fail } from '#kernel';
import { findNearestName } from '../../workers/library.ts';

export type QueryErrorPath = readonly (string | number)[];

/** A failure about a query, with the path of the parameter or condition that caused it. */
export const createInvalidQueryFailure = (reason: string, path: QueryErrorPath) =>
  fail('INVALID_QUERY', `${path.join('.')}: ${reason}`, { path });

/** The end of a message that suggests the nearest known word; empty without one. */
export function renderNearestNameSuggestion(word: string, words: Iterable<string>): string {
  const nearest = findNearestName(word, words);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}

/** The largest nesting of brackets or JSON in a query. */
const MAX_LEVELS = 100;

export function assertQueryNesting(path: QueryErrorPath): void {
  if (path.length > MAX_LEVELS)
    throw createInvalidQueryFailure(`is nested deeper than ${MAX_LEVELS} levels`, path.slice(0, 3));
}

/**
 * The path by which errors name a parameter of a node: `limit` at the root, `deep.comments._limit` below it, and `comments.limit`
 * in a selection.
 */
export const errorPathOfParameter = (node: QueryErrorPath, name: string): QueryErrorPath => [
  ...node,
  node[0] === 'deep' ? `_${name}` : name,
];

/** The path by which errors name the node of a relation: `deep.author`, below it `deep.author.posts`. */
export const errorPathOfRelation = (node: QueryErrorPath, name: string): QueryErrorPath => [
  ...(node.length === 0 ? ['deep'] : node),
  name,
];

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses a parameter that may be JSON text in a query string; undefined for the empty text. */
export function parseJsonParameter(value: unknown, path: QueryErrorPath): unknown {
  if (typeof value !== 'string') return value;
  if (value === '') return undefined;
  try {
    return JSON.parse(value);
  } catch {
    throw createInvalidQueryFailure('is not valid JSON', path);
  }
}

/** Parses a comma list or an array of texts. The query string parser makes long bracket lists an object keyed by index. */
export function parseNameListParameter(value: unknown, path: QueryErrorPath): readonly string[] {
  if (value === undefined || value === null || value === '') return [];
  const list = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [value];
  return list.flatMap((entry) => {
    if (typeof entry !== 'string') throw createInvalidQueryFailure('must be a list of names', path);
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
