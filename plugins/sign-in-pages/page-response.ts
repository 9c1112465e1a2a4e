import type { HttpContext } from '../http/contract.ts';
import { setContentSecurityPolicy } from '../http/library.ts';
import type { ReadBranding } from './branding.ts';
import type { PageEmbed } from './contract.ts';
import { type EmbeddedHtml, renderEmbeddedHtml } from './embedded-html.ts';
import { type Page, type PageFileNames, renderDocument } from './page.ts';

/**
 * Content security policy: a page loads from its own origin only, runs no inline script and no inline style, sends forms to this service
 * only, and is shown in no frame. Scripts are allowed where the page has one. What extensions embed is allowed by its hash or its origin.
 */
function policyFor(page: Page, embedded: EmbeddedHtml | undefined): string {
  const scripts = [...(page.hasPasskeys ? ["'self'"] : []), ...(embedded?.scripts ?? [])];
  return [
    "default-src 'none'",
    `style-src ${["'self'", ...(embedded?.styles ?? [])].join(' ')}`,
    "img-src 'self'",
    ...(scripts.length > 0 ? [`script-src ${[...new Set(scripts)].join(' ')}`] : []),
    ...(scripts.length > 0 ? ["connect-src 'self'"] : []),
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // Scripts of extensions may write into their page.
    ...(embedded?.scripts.length ? [] : ["require-trusted-types-for 'script'", "trusted-types 'none'"]),
  ].join('; ');
}

/** Headers of pages, redirects and refusals: what they show is for one browser, and their addresses may contain tokens. */
const PRIVATE_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex',
};

function setPrivateHeaders(ctx: HttpContext): void {
  ctx.set(PRIVATE_HEADERS);
  // Pages are for persons: scripts of other origins have no use for them.
  for (const name of ['Access-Control-Allow-Origin', 'Access-Control-Allow-Credentials']) ctx.remove(name);
}

/** The root of the service, relative to the address of the request: `..` for `/admin/login`. */
export const rootOf = ({ path }: Pick<HttpContext, 'path'>): string =>
  [
    '.',
    ...path
      .split('/')
      .slice(2)
      .map(() => '..'),
  ].join('/');

export type SendPage = (ctx: HttpContext, page: Page, status?: number) => Promise<void>;

export const createPageSender =
  (readBranding: ReadBranding, files: PageFileNames, embeds: () => readonly PageEmbed[] = () => []): SendPage =>
  async (ctx, page, status = 200) => {
    const embedded = renderEmbeddedHtml(embeds());
    const document = renderDocument(page, { root: rootOf(ctx), branding: await readBranding(), files, embedded });
    setPrivateHeaders(ctx);
    setContentSecurityPolicy(ctx, policyFor(page, embedded));
    ctx.status = status;
    ctx.type = 'text/html; charset=utf-8';
    // Bytes get no entity tag.
    ctx.body = Buffer.from(document);
  };

/** Redirects to a path, relative to the address of the request or to the root of the host; the browser sends a GET there. */
export function redirectTo(ctx: HttpContext, location: string): void {
  setPrivateHeaders(ctx);
  ctx.status = 303;
  ctx.set('Location', location);
  ctx.body = null;
  ctx.status = 303;
}

/** Passes the cookies of an internal request on to the browser. */
export function passCookies(ctx: HttpContext, cookies: readonly string[]): void {
  for (const cookie of cookies) ctx.res.appendHeader('Set-Cookie', cookie);
}

/** A parameter of the address; undefined where it is missing or repeated. */
export function queryParameterOf(ctx: HttpContext, name: string): string | undefined {
  const values = new URLSearchParams(ctx.querystring).getAll(name);
  return values.length === 1 ? values[0] : undefined;
}
