// Aliases: GraphQL names for names of the database and values of its enums. An alias depends on the text alone, so it
// does not change with other names, and the text can be read back from it: no two texts have the same alias.

const NAME = /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/;
/** `_u0020_` is a blank: UTF-16 code units with four digits each; adjacent characters share one escape. */
const ESCAPE = /_u((?:[0-9A-F]{4})+)_/g;
const HAS_ESCAPED = /_u(?:[0-9A-F]{4})+_/;
/** An underscore that would be read as the beginning of an escape. */
const STARTS_LIKE_ESCAPE = /^_u[0-9A-F]{4}/;
/** A long text, encoded as one number. */
const PACKED_ALIAS = /^_z[0-9A-Za-z]{20,88}$/;
/** Characters of an alias. Two aliases with prefix and suffix stay below the longest name of a document. */
const MAX_ALIAS_LENGTH = 88;
/** Represents the empty text; PostgreSQL stores no NUL character. */
const EMPTY_TEXT = '\0';

/** Whether a text is a GraphQL name that needs no alias. */
export const isUsableGraphqlName = (text: string): boolean =>
  NAME.test(text) && !HAS_ESCAPED.test(text) && !PACKED_ALIAS.test(text);

/** The text itself if it is a usable GraphQL name, else its alias. */
export const toGraphqlName = (text: string): string =>
  isUsableGraphqlName(text) ? text : shortenAlias(escapeText(text || EMPTY_TEXT, 0), text);

/**
 * An alternative alias for a name that is used already: its last characters are escaped although they need not be.
 * Answers the first one that `isTaken` does not know.
 */
export function findAlternativeGraphqlAlias(text: string, isTaken: (alias: string) => boolean): string {
  for (let last = 1; ; last++) {
    const alias = escapeText(text, last);
    if (last >= text.length || !isTaken(alias)) return alias;
  }
}

/** The text of an alias; any other text unchanged. */
export const decodeGraphqlAlias = (alias: string): string =>
  PACKED_ALIAS.test(alias) ? unpack(alias) : unescapeAlias(alias);

/** Replaces aliases inside a path: `-author.zip_u0020_code`, `year(first_u0020_day)`. */
export const decodeGraphqlAliasesInPath = (text: string): string =>
  text.includes('_z') ? text.replace(/\w+/g, decodeGraphqlAlias) : unescapeAlias(text);

const unescapeAlias = (alias: string): string =>
  alias.includes('_u')
    ? alias.replace(ESCAPE, (_, digits: string) =>
        digits.replace(/.{4}/g, (unit) => String.fromCharCode(Number.parseInt(unit, 16))).replace(EMPTY_TEXT, ''),
      )
    : alias;

/**
 * Escapes the characters that a GraphQL name may not have at their position, and the last `last` characters in any
 * case.
 */
function escapeText(text: string, last: number): string {
  let alias = '';
  let open = '';
  for (let at = 0; at < text.length; at++) {
    if (!isAllowedAt(text, at, text.length - last)) {
      open += text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0');
      continue;
    }
    alias += closeEscape(open) + text[at];
    open = '';
  }
  return alias + closeEscape(open);
}

const closeEscape = (digits: string): string => (digits === '' ? '' : `_u${digits}_`);

/** `end`: the position from which everything is escaped. */
function isAllowedAt(text: string, at: number, end: number): boolean {
  const character = text[at] as string;
  if (at >= end || !/\w/.test(character) || (at === 0 && /\d/.test(character))) return false;
  if (character !== '_') return true;
  // Two leading underscores are reserved by GraphQL, and an escape begins with one.
  if (at === 0 && text.length > 1 && (end <= 1 || !/[0-9A-Za-z]/.test(text[1] as string) || PACKED_ALIAS.test(text)))
    return false;
  return !STARTS_LIKE_ESCAPE.test(text.slice(at, at + 6));
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = BigInt(DIGITS.length);

/** Encodes a text with a too long alias as a number: names of PostgreSQL have at most 63 bytes, which are 85 digits. */
function shortenAlias(alias: string, text: string): string {
  if (alias.length <= MAX_ALIAS_LENGTH) return alias;
  let digits = '';
  for (let left = BigInt(`0x${Buffer.from(text).toString('hex')}`); left > 0n; left /= BASE)
    digits = DIGITS[Number(left % BASE)] + digits;
  return `_z${digits}`;
}

function unpack(alias: string): string {
  let number = 0n;
  for (const digit of alias.slice(2)) number = number * BASE + BigInt(DIGITS.indexOf(digit));
  const hex = number.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex').toString();
}
