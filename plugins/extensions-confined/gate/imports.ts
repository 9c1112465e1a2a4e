import type { Token } from './tokens.ts';

/** One import of a module, as written. */
export interface ModuleImport {
  /** Undefined where it is computed. */
  readonly specifier: string | undefined;
  readonly kind: 'import' | 'require' | 'dynamic';
  /** Names taken by name, as the module calls them; for what only some of a module's exports are refused. */
  readonly names: readonly string[];
  /** Offset in the source. */
  readonly at: number;
}

const isToken = (token: Token | undefined, kind: Token['kind'], text?: string): boolean =>
  token?.kind === kind && (text === undefined || token.text === text);

/** How far a statement is followed: sources are anybody's, and looking at one must not take long. */
const MAX_TOKENS = 5000;

const isMember = (before: Token | undefined): boolean => isToken(before, 'mark', '.') || isToken(before, 'mark', '?.');

/**
 * Every import, export from and require of a script. What TypeScript takes away before anything runs (`import type`, and
 * lists of nothing but types) is left out.
 */
export function findImports(words: readonly Token[]): readonly ModuleImport[] {
  const found: ModuleImport[] = [];
  words.forEach((word, index) => {
    if (word.kind !== 'name' || isMember(words[index - 1])) return;
    const next = words[index + 1];
    if (word.text === 'require' && isToken(next, 'mark', '(') && !isDefinition(words, index)) {
      found.push(parseCall(words, index, 'require'));
    } else if (word.text === 'import' && isToken(next, 'mark', '(') && !isDefinition(words, index)) {
      found.push(parseCall(words, index, 'dynamic'));
    } else if (word.text === 'import' || word.text === 'export') {
      const one = parseStatement(words, index);
      if (one) found.push(one);
    }
  });
  return found;
}

function parseCall(words: readonly Token[], index: number, kind: 'require' | 'dynamic'): ModuleImport {
  const [argument, after] = [words[index + 2], words[index + 3]];
  const isLiteral = isToken(argument, 'string') && (isToken(after, 'mark', ')') || isToken(after, 'mark', ','));
  return {
    specifier: isLiteral ? argument?.text : undefined,
    kind,
    names: [],
    at: (words[index] as Token).at,
  };
}

function parseStatement(words: readonly Token[], index: number): ModuleImport | undefined {
  const start = words[index] as Token;
  const first = words[index + 1];
  if (start.text === 'import' && isToken(first, 'string')) {
    return { specifier: first?.text, kind: 'import', names: [], at: start.at };
  }
  const begins = isToken(first, 'mark', '{') || isToken(first, 'mark', '*');
  const canBegin =
    start.text === 'import' ? begins || isToken(first, 'name') : begins || isToken(first, 'name', 'type');
  if (!canBegin || isTypeOnly(words, index)) return undefined;
  const list: string[] = [];
  let isInList = false;
  let onlyTypes = true;
  for (let at = index + 1; at < words.length && at < index + MAX_TOKENS; at++) {
    const word = words[at] as Token;
    if (isToken(word, 'mark', '{')) {
      if (isInList) return undefined;
      isInList = true;
    } else if (isToken(word, 'mark', '}')) isInList = false;
    else if (isInList) {
      const startsEntry = isToken(words[at - 1], 'mark', '{') || isToken(words[at - 1], 'mark', ',');
      if (!startsEntry) continue;
      const isType =
        isToken(word, 'name', 'type') && isToken(words[at + 1], 'name') && !isToken(words[at + 1], 'name', 'as');
      if (isType) continue;
      onlyTypes = false;
      list.push(word.text);
    } else if (isToken(word, 'name', 'from') && isToken(words[at + 1], 'string')) {
      const hasList = isToken(words[at - 1], 'mark', '}');
      // `import whole, { type T } from …` still takes the whole.
      if (hasList && onlyTypes && list.length === 0 && isToken(first, 'mark', '{') && !isEmptyList(words, index))
        return undefined;
      return { specifier: (words[at + 1] as Token).text, kind: 'import', names: list, at: start.at };
    } else if (!isListToken(word)) {
      // `import x = require(…)` is found by its second half; anything else is no import.
      return undefined;
    }
  }
  return undefined;
}

const isListToken = ({ kind, text }: Token): boolean =>
  kind === 'name' ? text !== 'import' && text !== 'export' : kind === 'mark' && (text === '*' || text === ',');

const isEmptyList = (words: readonly Token[], index: number): boolean => isToken(words[index + 2], 'mark', '}');

/** `import type { A } from`, `export type * from`, but not `import type from` or `import type, { a } from`. */
function isTypeOnly(words: readonly Token[], index: number): boolean {
  if (!isToken(words[index + 1], 'name', 'type')) return false;
  const second = words[index + 2];
  if (isToken(second, 'mark', '{') || isToken(second, 'mark', '*')) return true;
  if (!isToken(second, 'name')) return false;
  return second?.text !== 'from' || isToken(words[index + 3], 'name', 'from');
}

/** `name(…) {` and `name(…): Type` in a class, an object or an interface: it is given a meaning here, not called. */
export function isDefinition(words: readonly Token[], index: number): boolean {
  const before = words[index - 1];
  if (isToken(before, 'name', 'function')) return true;
  const after = words[findClosing(words, index + 1) + 1];
  if (isToken(after, 'mark', '{')) return !isToken(before, 'mark', '=') && !isToken(before, 'mark', '(');
  const mayBegin =
    (before?.kind === 'mark' && ['{', ',', ';', '}', '*'].includes(before.text)) ||
    (before?.kind === 'name' &&
      ['async', 'get', 'set', 'static', 'public', 'private', 'protected'].includes(before.text));
  return mayBegin && isToken(after, 'mark', ':');
}

const closings = new WeakMap<readonly Token[], Int32Array>();

/** Of the bracket at `index`; the last word where it is never closed. All are found at once: looking must not take long. */
function findClosing(words: readonly Token[], index: number): number {
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
