import type { FilterValue } from './filter-tree.ts';

/** A part of a filter: a sign, a value in quotes, or a word, such as a path, an operator or a number. */
export type FilterToken =
  | { readonly kind: 'sign'; readonly text: '(' | ')' | '[' | ']' }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'word'; readonly text: string };

/** Characters of a filter or a path. Longer ones are refused before they are read. */
export const MAX_FILTER_LENGTH = 4096;

const TOKEN = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+))/y;

/** Splits a filter in one pass; undefined for a text that has none of its parts, or a NUL character. */
export function splitFilter(text: string): readonly FilterToken[] | undefined {
  const tokens: FilterToken[] = [];
  const end = text.trimEnd().length;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(text);
    if (!match) return undefined;
    const [, sign, quoted, word] = match;
    if (sign !== undefined) tokens.push({ kind: 'sign', text: sign as '(' });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else {
      const value = parseQuoted(quoted as string);
      if (value === undefined) return undefined;
      tokens.push({ kind: 'text', value });
    }
  }
  return tokens;
}

/** The text of a value in quotes, whose escapes are those of JSON. PostgreSQL stores no NUL character. */
function parseQuoted(quoted: string): string | undefined {
  try {
    const value: string = JSON.parse(quoted);
    return value.includes('\0') ? undefined : value;
  } catch {
    return undefined;
  }
}

/** The value of a word: `true`, `false`, `null` or a number of JSON; undefined for any other word. */
export function parseWordValue(word: string): FilterValue | undefined {
  if (/^(?:true|false|null)$/i.test(word)) return JSON.parse(word.toLowerCase());
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(word) ? Number(word) : undefined;
}
