import type { ReasonCode } from '../../extensions/contract.ts';
import { findImports, isDefinition } from './imports.ts';
import { CONFINED_NAMES, findRefusedImport, getAdvice, isRelative, KIT } from './modules.ts';
import { type Token, tokenize } from './tokens.ts';

/** Something in a source that confined code cannot have (conventions, "Reason codes"). */
export interface ForbiddenUse {
  readonly code: ReasonCode;
  /** What was found, in words. */
  readonly what: string;
  readonly advice: string;
  readonly at: number;
}

export interface SourceScan {
  /** In the order in which they are written. */
  readonly uses: readonly ForbiddenUse[];
  /** Relative imports, for looking on. */
  readonly relative: readonly string[];
}

/**
 * Looks through one source, word by word: what stands in comments, strings and regular expressions does not count, and
 * neither do members of other objects (`cache.fetch(…)`) or names that the file itself gives a meaning to.
 *
 * This tells authors early what cannot work. It is not what confines: a script that slips through finds none of it either.
 */
export function scanSource(source: string): SourceScan {
  const words = tokenize(source);
  const uses: ForbiddenUse[] = [];
  const relative: string[] = [];
  for (const { specifier, kind, names, at } of findImports(words)) {
    if (specifier === undefined) {
      const code = kind === 'require' ? 'USES_DYNAMIC_REQUIRE' : 'USES_DYNAMIC_IMPORT';
      uses.push({ code, what: 'computes which module it loads', advice: 'name the module in quotes', at });
    } else if (isRelative(specifier)) relative.push(specifier);
    else {
      const other = specifier === KIT ? names.find((name) => FULL_AUTHORITY_NAME.test(name)) : undefined;
      const refused = other === undefined ? findRefusedImport(specifier) : findRefusedImport('@any/extension-sdk');
      const what =
        other === undefined ? `imports "${toDisplayName(specifier)}"` : `imports ${other}, which is for full authority`;
      if (refused) uses.push({ code: refused.code, what, advice: refused.advice, at });
    }
  }
  const own = findDeclaredNames(words);
  words.forEach((word, index) => {
    if (word.kind !== 'name' || own.has(word.text)) return;
    const found = findGlobalUse(words, index);
    if (found) uses.push({ ...found, at: word.at });
  });
  return { uses: uses.sort((a, b) => a.at - b.at), relative };
}

/** Names of the kit that confined code has no use for. */
const FULL_AUTHORITY_NAME = new RegExp(`^define(?!(?:${CONFINED_NAMES.map((name) => name.slice(6)).join('|')})$)`);

const toDisplayName = (specifier: string): string => specifier.replace(/[^\w@/:.#-]/g, '?').slice(0, 80);

function findGlobalUse(words: readonly Token[], index: number): Omit<ForbiddenUse, 'at'> | undefined {
  const word = words[index] as Token;
  if (!isGlobal(words, index)) return undefined;
  const next = words[index + 1];
  const isCall = next?.text === '(' && next.kind === 'mark' && !isDefinition(words, index);
  if (word.text === 'fetch' && isCall) {
    return { code: 'USES_RAW_NETWORK', what: 'calls fetch', advice: getAdvice('USES_RAW_NETWORK') };
  }
  if ((word.text === 'eval' || word.text === 'Function') && isCall) {
    const what = word.text === 'eval' ? 'calls eval' : 'makes a function out of text';
    return { code: 'USES_DYNAMIC_CODE', what, advice: 'write the code out' };
  }
  if (word.text === 'process' && isEnvironmentAccess(words, index)) {
    return { code: 'USES_RAW_ENV', what: 'reads the environment', advice: getAdvice('USES_RAW_ENV') };
  }
  return undefined;
}

/** Words between brackets that are looked at: lists of names are short where they are meant. */
const MAX_TOKENS = 500;

const GLOBALS: ReadonlySet<string> = new Set(['globalThis', 'global', 'window', 'self']);

/** Not a member of anything but the global object, and not a key or a parameter's name. */
function isGlobal(words: readonly Token[], index: number): boolean {
  const before = words[index - 1];
  if (before?.kind !== 'mark' || (before.text !== '.' && before.text !== '?.')) return true;
  const holder = words[index - 2];
  const outer = words[index - 3];
  return holder?.kind === 'name' && GLOBALS.has(holder.text) && !(outer?.kind === 'mark' && outer.text === '.');
}

/** The member `env` of it, in any of the ways to write one, or taken apart out of it. */
function isEnvironmentAccess(words: readonly Token[], index: number): boolean {
  const [one, two] = [words[index + 1], words[index + 2]];
  if (one?.kind === 'mark' && (one.text === '.' || one.text === '?.') && two?.text === 'env') return true;
  if (one?.kind === 'mark' && one.text === '[' && two?.kind === 'string' && two.text === 'env') return true;
  if (words[index - 1]?.text !== '=' || words[index - 2]?.text !== '}') return false;
  for (let at = index - 3; at > index - MAX_TOKENS && at >= 0 && words[at]?.text !== '{'; at--) {
    if (words[at]?.text === 'env') return true;
  }
  return false;
}

const WATCHED: ReadonlySet<string> = new Set(['fetch', 'eval', 'process', 'Function']);
const DECLARES: ReadonlySet<string> = new Set(['const', 'let', 'var', 'function', 'class', 'import']);

/** The watched names to which the file gives a meaning of its own: declared, imported or taken as a parameter. */
function findDeclaredNames(words: readonly Token[]): ReadonlySet<string> {
  const own = new Set<string>();
  words.forEach((word, index) => {
    if (word.kind !== 'name' || !WATCHED.has(word.text)) return;
    const before = words[index - 1];
    if (before?.kind === 'name' && DECLARES.has(before.text)) own.add(word.text);
    // `x as Function` says something of a type.
    else if (before?.text === 'as' && word.text !== 'Function') own.add(word.text);
    else if (isListed(words, index)) own.add(word.text);
  });
  return own;
}

/** `import { fetch } from …` and `const { fetch } = …` (but not out of the global object). */
function isListed(words: readonly Token[], index: number): boolean {
  const [before, after] = [words[index - 1], words[index + 1]];
  if (!['{', ','].includes(before?.text ?? '') || !['}', ','].includes(after?.text ?? '')) return false;
  const { begins, ends } = findLists(words);
  const holder = words[(begins[index] as number) - 1]?.text;
  if (holder !== 'import' && holder !== 'const' && holder !== 'let' && holder !== 'var') return false;
  return !GLOBALS.has(words[(ends[index] as number) + 2]?.text ?? '');
}

interface Lists {
  /** By word: the `{` or `;` before it, and the `}` behind it. */
  readonly begins: Int32Array;
  readonly ends: Int32Array;
}
const lists = new WeakMap<readonly Token[], Lists>();

/** All are found at once: a list of a million names must not be gone through for each of them. */
function findLists(words: readonly Token[]): Lists {
  const known = lists.get(words);
  if (known) return known;
  const [begins, ends] = [new Int32Array(words.length), new Int32Array(words.length)];
  for (let at = 0, begin = -1; at < words.length; at++) {
    begins[at] = begin;
    const { text } = words[at] as Token;
    if (text === '{' || text === ';') begin = at;
  }
  for (let at = words.length - 1, end = words.length; at >= 0; at--) {
    ends[at] = end;
    if (words[at]?.text === '}') end = at;
  }
  const found = { begins, ends };
  lists.set(words, found);
  return found;
}
