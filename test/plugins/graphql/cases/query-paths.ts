import { InexpressibleInGraphqlError } from './document-entries.ts';

// Parses paths and function calls of the REST query language, independently of the query engine under test.

export const INEXPRESSIBLE_QUERY_STRING = 'a form that only query strings have';
export const INEXPRESSIBLE_KEY_TEXT = 'the text of a key of several columns';
export const INEXPRESSIBLE_PATH = 'names that break the grammar of paths';

/** Parses a list parameter: one text with commas, or a list of texts. */
export function parseListParameter(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.flatMap((one) => {
    if (typeof one !== 'string') throw new InexpressibleInGraphqlError(INEXPRESSIBLE_QUERY_STRING);
    return splitOutsideParentheses(one, ',').flatMap((part) => part.trim() || []);
  });
}

/** Splits a path into steps. `author.year(born)` and `year(author.born)` give the same steps. */
export function splitQueryPath(entry: string): readonly string[] {
  const steps = splitOutsideParentheses(entry, '.');
  const [, fn, inside = ''] = /^(\w+)\((.*)\)$/s.exec(entry) ?? [];
  if (fn === undefined) return steps;
  const comma = inside.indexOf(',');
  const way = splitOutsideParentheses((comma < 0 ? inside : inside.slice(0, comma)).trim(), '.');
  return [...way.slice(0, -1), `${fn}(${way.at(-1)}${comma < 0 ? '' : inside.slice(comma)})`];
}

export interface FunctionCall {
  readonly fn: string;
  readonly field: string;
  /** The path inside a JSON value. */
  readonly path?: string;
}

/** Parses a function call such as `json(doc, a.b[0])`; undefined for a plain field. */
export function parseQueryFunctionCall(step: string): FunctionCall | undefined {
  const [, fn, field, path] = /^(\w+)\(([^(),]+)(?:,([^()]*))?\)$/s.exec(step) ?? [];
  if (fn && field) return { fn, field: field.trim(), ...(path === undefined ? {} : { path: path.trim() }) };
  if (/[()\0]/.test(step)) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_PATH);
  return undefined;
}

/** The key under which a REST answer has the value of a function. */
export const restFunctionKey = ({ fn, field, path = '' }: FunctionCall): string =>
  [field, ...path.split(/[.[\]]+/).filter(Boolean), fn].join('_');

/** Splits a text at each `mark` that is outside of parentheses. */
function splitOutsideParentheses(text: string, mark: string): readonly string[] {
  const parts = [''];
  let depth = 0;
  for (const one of text) {
    depth += one === '(' ? 1 : one === ')' ? -1 : 0;
    if (depth < 0) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_PATH);
    if (one === mark && depth === 0) parts.push('');
    else parts.push(parts.pop() + one);
  }
  if (depth !== 0) throw new InexpressibleInGraphqlError(INEXPRESSIBLE_PATH);
  return parts;
}
