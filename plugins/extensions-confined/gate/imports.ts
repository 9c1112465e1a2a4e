import type { SourceToken } from './javascript-tokenizer.ts';

/** One import of a module, as written. */
export interface ModuleImport {
  /** The name of the imported module; undefined if the code computes the name. */
  readonly specifier: string | undefined;
  readonly kind: 'import' | 'require' | 'dynamic';
  /** Imported names, as the module exports them: of some modules only some exports are refused. */
  readonly names: readonly string[];
  /** Offset in the source. */
  readonly at: number;
}

const isToken = (token: SourceToken | undefined, kind: SourceToken['kind'], text?: string): boolean =>
  token?.kind === kind && (text === undefined || token.text === text);

/** Maximum tokens of one statement that are read: sources are third-party code, and a scan must not take long. */
const MAX_TOKENS = 5000;

const isMember = (before: SourceToken | undefined): boolean =>
  isToken(before, 'mark', '.') || isToken(before, 'mark', '?.');

/**
 * Finds every import, export from and require of a script. Imports that TypeScript removes (`import type`, and lists of
 * types only) are left out.
 */
export function findImports(tokens: readonly SourceToken[]): readonly ModuleImport[] {
  const found: ModuleImport[] = [];
  tokens.forEach((token, index) => {
    if (token.kind !== 'name' || isMember(tokens[index - 1])) return;
    const next = tokens[index + 1];
    if (token.text === 'require' && isToken(next, 'mark', '(') && !isMethodDefinition(tokens, index)) {
      found.push(parseCall(tokens, index, 'require'));
    } else if (token.text === 'import' && isToken(next, 'mark', '(') && !isMethodDefinition(tokens, index)) {
      found.push(parseCall(tokens, index, 'dynamic'));
    } else if (token.text === 'import' || token.text === 'export') {
      const statement = parseStatement(tokens, index);
      if (statement) found.push(statement);
    }
  });
  return found;
}

function parseCall(tokens: readonly SourceToken[], index: number, kind: 'require' | 'dynamic'): ModuleImport {
  const [argument, after] = [tokens[index + 2], tokens[index + 3]];
  const isLiteral = isToken(argument, 'string') && (isToken(after, 'mark', ')') || isToken(after, 'mark', ','));
  return {
    specifier: isLiteral ? argument?.text : undefined,
    kind,
    names: [],
    at: (tokens[index] as SourceToken).at,
  };
}

function parseStatement(tokens: readonly SourceToken[], index: number): ModuleImport | undefined {
  const start = tokens[index] as SourceToken;
  const first = tokens[index + 1];
  if (start.text === 'import' && isToken(first, 'string')) {
    return { specifier: first?.text, kind: 'import', names: [], at: start.at };
  }
  const startsList = isToken(first, 'mark', '{') || isToken(first, 'mark', '*');
  const mayBeImport =
    start.text === 'import' ? startsList || isToken(first, 'name') : startsList || isToken(first, 'name', 'type');
  if (!mayBeImport || isTypeOnly(tokens, index)) return undefined;
  const list: string[] = [];
  let isInList = false;
  let onlyTypes = true;
  for (let at = index + 1; at < tokens.length && at < index + MAX_TOKENS; at++) {
    const token = tokens[at] as SourceToken;
    if (isToken(token, 'mark', '{')) {
      if (isInList) return undefined;
      isInList = true;
    } else if (isToken(token, 'mark', '}')) isInList = false;
    else if (isInList) {
      const startsEntry = isToken(tokens[at - 1], 'mark', '{') || isToken(tokens[at - 1], 'mark', ',');
      if (!startsEntry) continue;
      const isType =
        isToken(token, 'name', 'type') && isToken(tokens[at + 1], 'name') && !isToken(tokens[at + 1], 'name', 'as');
      if (isType) continue;
      onlyTypes = false;
      list.push(token.text);
    } else if (isToken(token, 'name', 'from') && isToken(tokens[at + 1], 'string')) {
      const hasList = isToken(tokens[at - 1], 'mark', '}');
      // `import whole, { type T } from …` still imports the default export.
      if (hasList && onlyTypes && list.length === 0 && isToken(first, 'mark', '{') && !isEmptyList(tokens, index))
        return undefined;
      return { specifier: (tokens[at + 1] as SourceToken).text, kind: 'import', names: list, at: start.at };
    } else if (!isListToken(token)) {
      // `import x = require(…)` is found by its second half; anything else is not an import.
      return undefined;
    }
  }
  return undefined;
}

const isListToken = ({ kind, text }: SourceToken): boolean =>
  kind === 'name' ? text !== 'import' && text !== 'export' : kind === 'mark' && (text === '*' || text === ',');

const isEmptyList = (tokens: readonly SourceToken[], index: number): boolean => isToken(tokens[index + 2], 'mark', '}');

/** `import type { A } from`, `export type * from`, but not `import type from` or `import type, { a } from`. */
function isTypeOnly(tokens: readonly SourceToken[], index: number): boolean {
  if (!isToken(tokens[index + 1], 'name', 'type')) return false;
  const second = tokens[index + 2];
  if (isToken(second, 'mark', '{') || isToken(second, 'mark', '*')) return true;
  if (!isToken(second, 'name')) return false;
  return second?.text !== 'from' || isToken(tokens[index + 3], 'name', 'from');
}

/** `name(…) {` and `name(…): Type` in a class, an object or an interface: a definition, not a call. */
export function isMethodDefinition(tokens: readonly SourceToken[], index: number): boolean {
  const before = tokens[index - 1];
  if (isToken(before, 'name', 'function')) return true;
  const after = tokens[findClosing(tokens, index + 1) + 1];
  if (isToken(after, 'mark', '{')) return !isToken(before, 'mark', '=') && !isToken(before, 'mark', '(');
  const mayBegin =
    (before?.kind === 'mark' && ['{', ',', ';', '}', '*'].includes(before.text)) ||
    (before?.kind === 'name' &&
      ['async', 'get', 'set', 'static', 'public', 'private', 'protected'].includes(before.text));
  return mayBegin && isToken(after, 'mark', ':');
}

const closings = new WeakMap<readonly SourceToken[], Int32Array>();

/**
 * The index of the bracket that closes the one at `index`; the number of tokens if none does. All are found in
 * one pass, so that a hostile source cannot make the scan slow.
 */
function findClosing(tokens: readonly SourceToken[], index: number): number {
  const cached = closings.get(tokens) ?? findClosings(tokens);
  closings.set(tokens, cached);
  return cached[index] ?? tokens.length;
}

function findClosings(tokens: readonly SourceToken[]): Int32Array {
  const found = new Int32Array(tokens.length).fill(tokens.length);
  const open: number[] = [];
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind !== 'mark') continue;
    if (text === '(') open.push(at);
    else if (text === ')') {
      const opened = open.pop();
      if (opened !== undefined) found[opened] = at;
    }
  }
  return found;
}
