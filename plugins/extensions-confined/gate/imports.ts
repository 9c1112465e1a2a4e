import type { Token } from './tokens.ts';

/** One import of a module, as written. */
export interface Import {
  /** Undefined where it is computed. */
  readonly specifier: string | undefined;
  readonly kind: 'import' | 'require' | 'dynamic';
  /** Names taken by name, as the module calls them; for what only some of a module's exports are refused. */
  readonly names: readonly string[];
  /** Offset in the source. */
  readonly at: number;
}

const is = (token: Token | undefined, kind: Token['kind'], text?: string): boolean =>
  token?.kind === kind && (text === undefined || token.text === text);

/** How far a statement is followed: sources are anybody's, and looking at one must not take long. */
const MOST_WORDS = 5000;

const isMember = (before: Token | undefined): boolean => is(before, 'mark', '.') || is(before, 'mark', '?.');

/**
 * Every import, export from and require of a script. What TypeScript takes away before anything runs (`import type`, and
 * lists of nothing but types) is left out.
 */
export function importsOf(words: readonly Token[]): readonly Import[] {
  const found: Import[] = [];
  words.forEach((word, index) => {
    if (word.kind !== 'name' || isMember(words[index - 1])) return;
    const next = words[index + 1];
    if (word.text === 'require' && is(next, 'mark', '(') && !isDefinition(words, index)) {
      found.push(called(words, index, 'require'));
    } else if (word.text === 'import' && is(next, 'mark', '(') && !isDefinition(words, index)) {
      found.push(called(words, index, 'dynamic'));
    } else if (word.text === 'import' || word.text === 'export') {
      const one = statement(words, index);
      if (one) found.push(one);
    }
  });
  return found;
}

function called(words: readonly Token[], index: number, kind: 'require' | 'dynamic'): Import {
  const [argument, after] = [words[index + 2], words[index + 3]];
  const isLiteral = is(argument, 'string') && (is(after, 'mark', ')') || is(after, 'mark', ','));
  return {
    specifier: isLiteral ? argument?.text : undefined,
    kind,
    names: [],
    at: (words[index] as Token).at,
  };
}

function statement(words: readonly Token[], index: number): Import | undefined {
  const start = words[index] as Token;
  const first = words[index + 1];
  if (start.text === 'import' && is(first, 'string')) {
    return { specifier: first?.text, kind: 'import', names: [], at: start.at };
  }
  const begins = is(first, 'mark', '{') || is(first, 'mark', '*');
  const canBegin = start.text === 'import' ? begins || is(first, 'name') : begins || is(first, 'name', 'type');
  if (!canBegin || isTypeOnly(words, index)) return undefined;
  const list: string[] = [];
  let isInList = false;
  let onlyTypes = true;
  for (let at = index + 1; at < words.length && at < index + MOST_WORDS; at++) {
    const word = words[at] as Token;
    if (is(word, 'mark', '{')) {
      if (isInList) return undefined;
      isInList = true;
    } else if (is(word, 'mark', '}')) isInList = false;
    else if (isInList) {
      const startsEntry = is(words[at - 1], 'mark', '{') || is(words[at - 1], 'mark', ',');
      if (!startsEntry) continue;
      const isType = is(word, 'name', 'type') && is(words[at + 1], 'name') && !is(words[at + 1], 'name', 'as');
      if (isType) continue;
      onlyTypes = false;
      list.push(word.text);
    } else if (is(word, 'name', 'from') && is(words[at + 1], 'string')) {
      const hasList = is(words[at - 1], 'mark', '}');
      // `import whole, { type T } from …` still takes the whole.
      if (hasList && onlyTypes && list.length === 0 && is(first, 'mark', '{') && !isEmptyList(words, index))
        return undefined;
      return { specifier: (words[at + 1] as Token).text, kind: 'import', names: list, at: start.at };
    } else if (!canStand(word)) {
      // `import x = require(…)` is found by its second half; anything else is no import.
      return undefined;
    }
  }
  return undefined;
}

const canStand = ({ kind, text }: Token): boolean =>
  kind === 'name' ? text !== 'import' && text !== 'export' : kind === 'mark' && (text === '*' || text === ',');

const isEmptyList = (words: readonly Token[], index: number): boolean => is(words[index + 2], 'mark', '}');

/** `import type { A } from`, `export type * from`, but not `import type from` or `import type, { a } from`. */
function isTypeOnly(words: readonly Token[], index: number): boolean {
  if (!is(words[index + 1], 'name', 'type')) return false;
  const second = words[index + 2];
  if (is(second, 'mark', '{') || is(second, 'mark', '*')) return true;
  if (!is(second, 'name')) return false;
  return second?.text !== 'from' || is(words[index + 3], 'name', 'from');
}

/** `name(…) {` and `name(…): Type` in a class, an object or an interface: it is given a meaning here, not called. */
export function isDefinition(words: readonly Token[], index: number): boolean {
  const before = words[index - 1];
  if (is(before, 'name', 'function')) return true;
  const after = words[closing(words, index + 1) + 1];
  if (is(after, 'mark', '{')) return !is(before, 'mark', '=') && !is(before, 'mark', '(');
  const mayBegin =
    (before?.kind === 'mark' && ['{', ',', ';', '}', '*'].includes(before.text)) ||
    (before?.kind === 'name' &&
      ['async', 'get', 'set', 'static', 'public', 'private', 'protected'].includes(before.text));
  return mayBegin && is(after, 'mark', ':');
}

const closings = new WeakMap<readonly Token[], Int32Array>();

/** Of the bracket at `index`; the last word where it is never closed. All are found at once: looking must not take long. */
function closing(words: readonly Token[], index: number): number {
  const known = closings.get(words) ?? findClosings(words);
  closings.set(words, known);
  return known[index] ?? words.length;
}

function findClosings(words: readonly Token[]): Int32Array {
  const found = new Int32Array(words.length).fill(words.length);
  const open: number[] = [];
  for (const [at, { kind, text }] of words.entries()) {
    if (kind !== 'mark') continue;
    if (text === '(') open.push(at);
    else if (text === ')') {
      const opened = open.pop();
      if (opened !== undefined) found[opened] = at;
    }
  }
  return found;
}
