import { isExtensionName } from '../manifest/extension-package-names.ts';

const LONGEST = 300;
const TOKEN = /[A-Za-z0-9_+/=-]{24,}/g;
/** A run of characters between spaces, quotes and brackets. */
const WORD = /[^\s"'`()[\]{}<>,;]+/g;
const SCOPED = /^@[\w.~-]+\/[\w.~-]+$/;

type Redact = (text: string) => string;

/**
 * Redacts a reason's detail (conventions, "Reason detail redaction"): one line without values of the environment, paths
 * and texts that look like secrets.
 */
export function redactDetail(detail: string, redactEnvironment: Redact, name = ''): string {
  const shown = oneLine(redactEnvironment(detail)).replace(WORD, withoutPath);
  // The beginning of a path may be a value of the environment.
  return cut(withoutTokens(shown.replaceAll('<redacted><path>', '<path>'), name));
}

/**
 * Redacts a detail of the gate, which may name a file by its path inside of the package. A detail that names a path
 * outside is replaced as a whole.
 */
export function redactGateDetail(detail: string, redactEnvironment: Redact, name = ''): string {
  const text = oneLine(redactEnvironment(detail));
  const escapes = (text.match(WORD) ?? []).some((word) => isAbsolute(word) || /(^|[\\/])\.\.([\\/]|$)/.test(word));
  return escapes ? 'The package could not be validated. See the log of the service.' : cut(withoutTokens(text, name));
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

/** Redacts long tokens, which may be secrets. Names of packages and settings, and reason codes, are long and no secrets. */
const withoutTokens = (text: string, name: string): string =>
  text.replace(TOKEN, (token, at: number) => {
    if (name.includes(token)) return token;
    if (/^[A-Z]+(_[A-Z]+)+$/.test(token)) return token;
    const before = /[@\w.~/-]*$/.exec(text.slice(0, at))?.[0] ?? '';
    return isExtensionName(before + token) ? token : '<redacted>';
  });

const isAbsolute = (word: string): boolean =>
  /^(\/|\\|~[\\/]|[A-Za-z]:[\\/]|file:)/.test(word) || /[=:](\/|[A-Za-z]:[\\/])(?!\/)/.test(word);

/** Routes that details name because an admin has to call them. */
const ROUTES: ReadonlySet<string> = new Set(['extensions/consent', 'extensions/restart']);

function withoutPath(word: string): string {
  const origin = /^https?:\/\/[\w.:-]+(?=[/?#]|$)/i.exec(word)?.[0];
  if (origin !== undefined) return origin.length === word.length ? word : `${origin}/<path>`;
  const bare = word.replace(/[.:!?]+$/, '');
  if (!/[\\/]/.test(bare) || SCOPED.test(bare) || ROUTES.has(bare)) return word;
  return `<path>${word.slice(bare.length)}`;
}
