import type { ReasonCode } from '../../extensions/contract.ts';
import { findImports, isMethodDefinition } from './imports.ts';
import { type SourceToken, tokenize } from './javascript-tokenizer.ts';
import {
  CONFINED_SDK_EXPORTS,
  findImportRefusalReason,
  findReasonCodeAdvice,
  isConfinedSdk,
  isRelativeImport,
} from './refused-imports.ts';

/** A use of something that confined code does not have (conventions, "Reason codes"). */
export interface ForbiddenApiUse {
  readonly code: ReasonCode;
  /** What the source does: `calls fetch`. */
  readonly what: string;
  readonly advice: string;
  readonly at: number;
}

export interface ForbiddenUseScanResult {
  /** In the order of the source. */
  readonly uses: readonly ForbiddenApiUse[];
  /** Relative imports, to scan next. */
  readonly relative: readonly string[];
}

/**
 * Scans one source by tokens: comments, strings and regular expressions do not count, nor do members of other objects
 * (`cache.fetch(…)`) and names that the file declares itself.
 *
 * The scan shows authors early what cannot work. It is not the confinement: code that evades it runs without these APIs too.
 */
export function scanSourceForForbiddenUses(source: string): ForbiddenUseScanResult {
  const tokens = tokenize(source);
  const uses: ForbiddenApiUse[] = [];
  const relative: string[] = [];
  for (const { specifier, kind, names, at } of findImports(tokens)) {
    if (specifier === undefined) {
      const code = kind === 'require' ? 'USES_DYNAMIC_REQUIRE' : 'USES_DYNAMIC_IMPORT';
      uses.push({ code, what: 'computes which module it loads', advice: 'name the module in quotes', at });
    } else if (isRelativeImport(specifier)) relative.push(specifier);
    else {
      const fullAuthorityName = isConfinedSdk(specifier)
        ? names.find((name) => FULL_AUTHORITY_NAME.test(name))
        : undefined;
      const refused =
        fullAuthorityName === undefined
          ? findImportRefusalReason(specifier)
          : findImportRefusalReason('@any/extension-sdk');
      const what =
        fullAuthorityName === undefined
          ? `imports "${toDisplayName(specifier)}"`
          : `imports ${fullAuthorityName}, which is for full authority`;
      if (refused) uses.push({ code: refused.code, what, advice: refused.advice, at });
    }
  }
  const declared = findDeclaredNames(tokens);
  tokens.forEach((token, index) => {
    if (token.kind !== 'name' || declared.has(token.text)) return;
    const found = findGlobalUse(tokens, index);
    if (found) uses.push({ ...found, at: token.at });
  });
  return { uses: uses.sort((a, b) => a.at - b.at), relative };
}

/** Exports of the SDK for code with full authority. */
const FULL_AUTHORITY_NAME = new RegExp(
  `^define(?!(?:${CONFINED_SDK_EXPORTS.map((name) => name.slice(6)).join('|')})$)`,
);

const toDisplayName = (specifier: string): string => specifier.replace(/[^\w@/:.#-]/g, '?').slice(0, 80);

function findGlobalUse(tokens: readonly SourceToken[], index: number): Omit<ForbiddenApiUse, 'at'> | undefined {
  const token = tokens[index] as SourceToken;
  if (!isGlobal(tokens, index)) return undefined;
  const next = tokens[index + 1];
  const isCall = next?.text === '(' && next.kind === 'mark' && !isMethodDefinition(tokens, index);
  if (token.text === 'fetch' && isCall) {
    return { code: 'USES_RAW_NETWORK', what: 'calls fetch', advice: findReasonCodeAdvice('USES_RAW_NETWORK') };
  }
  if ((token.text === 'eval' || token.text === 'Function') && isCall) {
    const what = token.text === 'eval' ? 'calls eval' : 'makes a function out of text';
    return { code: 'USES_DYNAMIC_CODE', what, advice: 'write the code out' };
  }
  if (token.text === 'process' && isEnvironmentAccess(tokens, index)) {
    return { code: 'USES_RAW_ENV', what: 'reads the environment', advice: findReasonCodeAdvice('USES_RAW_ENV') };
  }
  return undefined;
}

/** Maximum tokens between brackets that are read; real lists of names are short. */
const MAX_TOKENS = 500;

const GLOBALS: ReadonlySet<string> = new Set(['globalThis', 'global', 'window', 'self']);

/** Whether a name is a global, or a member of the global object. */
function isGlobal(tokens: readonly SourceToken[], index: number): boolean {
  const before = tokens[index - 1];
  if (before?.kind !== 'mark' || (before.text !== '.' && before.text !== '?.')) return true;
  const holder = tokens[index - 2];
  const outer = tokens[index - 3];
  return holder?.kind === 'name' && GLOBALS.has(holder.text) && !(outer?.kind === 'mark' && outer.text === '.');
}

/** Whether `process` is followed by a use of its member `env`, as a member, by a string, or by destructuring. */
function isEnvironmentAccess(tokens: readonly SourceToken[], index: number): boolean {
  const [one, two] = [tokens[index + 1], tokens[index + 2]];
  if (one?.kind === 'mark' && (one.text === '.' || one.text === '?.') && two?.text === 'env') return true;
  if (one?.kind === 'mark' && one.text === '[' && two?.kind === 'string' && two.text === 'env') return true;
  if (tokens[index - 1]?.text !== '=' || tokens[index - 2]?.text !== '}') return false;
  for (let at = index - 3; at > index - MAX_TOKENS && at >= 0 && tokens[at]?.text !== '{'; at--) {
    if (tokens[at]?.text === 'env') return true;
  }
  return false;
}

const WATCHED: ReadonlySet<string> = new Set(['fetch', 'eval', 'process', 'Function']);
const DECLARES: ReadonlySet<string> = new Set(['const', 'let', 'var', 'function', 'class', 'import']);

/** The watched names that the file declares itself: as a variable, an import or a parameter. */
function findDeclaredNames(tokens: readonly SourceToken[]): ReadonlySet<string> {
  const declared = new Set<string>();
  tokens.forEach((token, index) => {
    if (token.kind !== 'name' || !WATCHED.has(token.text)) return;
    const before = tokens[index - 1];
    if (before?.kind === 'name' && DECLARES.has(before.text)) declared.add(token.text);
    // `x as Function` is a type assertion.
    else if (before?.text === 'as' && token.text !== 'Function') declared.add(token.text);
    else if (isListed(tokens, index)) declared.add(token.text);
  });
  return declared;
}

/** Whether a name stands in `import { fetch } from …` or `const { fetch } = …`, except from the global object. */
function isListed(tokens: readonly SourceToken[], index: number): boolean {
  const [before, after] = [tokens[index - 1], tokens[index + 1]];
  if (!['{', ','].includes(before?.text ?? '') || !['}', ','].includes(after?.text ?? '')) return false;
  const { begins, ends } = findLists(tokens);
  const holder = tokens[(begins[index] as number) - 1]?.text;
  if (holder !== 'import' && holder !== 'const' && holder !== 'let' && holder !== 'var') return false;
  return !GLOBALS.has(tokens[(ends[index] as number) + 2]?.text ?? '');
}

interface Lists {
  /** By token: the index of the `{` or `;` before it, and of the `}` behind it. */
  readonly begins: Int32Array;
  readonly ends: Int32Array;
}
const lists = new WeakMap<readonly SourceToken[], Lists>();

/** Finds all lists in one pass, so that a list of a million names is not read once for each name. */
function findLists(tokens: readonly SourceToken[]): Lists {
  const cached = lists.get(tokens);
  if (cached) return cached;
  const [begins, ends] = [new Int32Array(tokens.length), new Int32Array(tokens.length)];
  for (let at = 0, begin = -1; at < tokens.length; at++) {
    begins[at] = begin;
    const { text } = tokens[at] as SourceToken;
    if (text === '{' || text === ';') begin = at;
  }
  for (let at = tokens.length - 1, end = tokens.length; at >= 0; at--) {
    ends[at] = end;
    if (tokens[at]?.text === '}') end = at;
  }
  const found = { begins, ends };
  lists.set(tokens, found);
  return found;
}
