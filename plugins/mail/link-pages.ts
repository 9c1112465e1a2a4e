import { fail } from '#kernel';

/** Characters of the longest URL that a client may send. */
const MAX_URL_LENGTH = 2000;

/** The address of the service without a slash at its end; null where PUBLIC_URL is not absolute. */
export function parsePublicUrl(text: string): string | null {
  const url = URL.parse(text);
  return url && /^https?:$/.test(url.protocol) ? text.replace(/\/+$/, '') : null;
}

/** The setting that lists URLs, and the member of the request that has to be one of them. */
export interface UrlAllowList {
  readonly setting: string;
  readonly urls: readonly string[];
  readonly field: string;
}

/**
 * Asserts that a URL of a client, which a link in a mail leads to, is on a list of the admin: an entry is the whole text of the URL,
 * or has its origin and its path. Query and fragment are free.
 * @throws INVALID_PAYLOAD
 */
export function assertUrlIsAllowed(url: string, { setting, urls, field }: UrlAllowList): void {
  const isShort = url.length <= MAX_URL_LENGTH;
  if (isShort && URL.canParse(url) && urls.some((entry) => entry === url || hasSameOriginAndPath(entry, url))) return;
  throw fail('INVALID_PAYLOAD', `"${field}" is not on the list ${setting}.`, { field, path: [field] });
}

function hasSameOriginAndPath(entry: string, text: string): boolean {
  const [allowed, url] = [parseWebUrl(entry), parseWebUrl(text)];
  return allowed !== null && url !== null && url.origin === allowed.origin && url.pathname === allowed.pathname;
}

/** A web address with `//` right after the scheme, and without user and password. */
const WEB_ADDRESS = /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i;
/** Characters that programs read in different ways: a URL parser takes a backslash for a slash, and removes line breaks. */
const AMBIGUOUS = /[\\\s\p{Cc}\p{Zl}\p{Zp}]/u;

const parseWebUrl = (text: string): URL | null =>
  WEB_ADDRESS.test(text) && !AMBIGUOUS.test(text) ? URL.parse(text) : null;

/** What the links of one kind of mail lead to. */
export interface LinkPagesOptions {
  /** PUBLIC_URL. */
  readonly publicUrl: string;
  /** The path below PUBLIC_URL of the page for requests that name no URL. */
  readonly path: string;
  readonly allowList: UrlAllowList;
}

/** The pages that links in mails lead to. The address of a request (`Host`) is never used: its client may have invented it. */
export interface LinkPages {
  /** Whether there is a page for requests that name no URL: PUBLIC_URL is absolute. */
  readonly hasDefault: boolean;
  /**
   * The page of a request: the URL that it names, which the list has to allow, else the default.
   * @throws INVALID_PAYLOAD for a URL that is not allowed, INVALID_CONFIG where PUBLIC_URL would be needed and is not absolute.
   */
  pageOf(requested: string | undefined): string;
}

export function createLinkPages({ publicUrl, path, allowList }: LinkPagesOptions): LinkPages {
  const base = parsePublicUrl(publicUrl);
  return {
    hasDefault: base !== null,
    pageOf(requested) {
      if (requested !== undefined) {
        assertUrlIsAllowed(requested, allowList);
        return requested;
      }
      if (base === null) throw fail('INVALID_CONFIG', 'Links in mails need PUBLIC_URL to be an absolute address.');
      return base + path;
    },
  };
}

/** The URL of a page with the parameter `token`. Other parameters and the fragment stay. */
export function buildLink(page: string, token: string): string {
  const url = new URL(page);
  url.searchParams.set('token', token);
  return url.href;
}
