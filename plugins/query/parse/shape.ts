import { fail } from '#kernel';
import { nearestName } from '../../workers/library.ts';

export type Path = readonly (string | number)[];

/** Every complaint about a query names the place it is about. */
export const invalid = (reason: string, path: Path) => fail('INVALID_QUERY', `${path.join('.')}: ${reason}`, { path });

/** What a misspelt word of the query language most likely means, as the end of a message. */
export function hintOf(word: string, words: Iterable<string>): string {
  const meant = nearestName(word, words);
  return meant === undefined ? '' : `; did you mean "${meant}"?`;
}

/** Levels of brackets or JSON a query may have, whatever they mean. */
const MAX_LEVELS = 100;

export function assertNesting(path: Path): void {
  if (path.length > MAX_LEVELS) throw invalid(`is nested deeper than ${MAX_LEVELS} levels`, path.slice(0, 3));
}

/**
 * Where a parameter of a node stands: `limit` at the root, `deep.comments._limit` further down, and in a selection
 * `comments.limit`.
 */
export const parameterAt = (node: Path, name: string): Path => [...node, node[0] === 'deep' ? `_${name}` : name];

/** Where the node of a relation stands: `deep.author`, below it `deep.author.posts`. */
export const relationAt = (node: Path, name: string): Path => [...(node.length === 0 ? ['deep'] : node), name];

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A parameter that may come as JSON text in a query string. */
export function fromJson(value: unknown, path: Path): unknown {
  if (typeof value !== 'string') return value;
  if (value === '') return undefined;
  try {
    return JSON.parse(value);
  } catch {
    throw invalid('is not valid JSON', path);
  }
}

/** A comma list or an array of texts; an index-keyed object is what long bracket lists arrive as. */
export function textList(value: unknown, path: Path): readonly string[] {
  if (value === undefined || value === null || value === '') return [];
  const list = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [value];
  return list.flatMap((entry) => {
    if (typeof entry !== 'string') throw invalid('must be a list of names', path);
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
