import { randomBytes, timingSafeEqual } from 'node:crypto';
import { fail } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { html, type SafeHtml } from './html.ts';
import type { Page } from './page.ts';
import { failWithPage } from './page-failures.ts';
import { rootOf } from './page-response.ts';

const COOKIE = 'service_form_token';
export const FORM_TOKEN_FIELD = 'form_token';
const TOKEN = /^[\w-]{43}$/;

/** The form that a page posts, its token checked. */
export type FormFields = Readonly<Record<string, string>>;

/**
 * Protects forms from requests that pages of other sites send, sign-in included. Browsers tell where a request is from by
 * `Sec-Fetch-Site`, on encrypted connections, and by `Origin`, which is `null` for pages without referrers. A token in the form and in a
 * cookie, which browsers send with requests of the same site alone, is needed in any case.
 */
export interface FormTokens {
  /** The hidden field of a form; the response sets the cookie where the request has none. */
  renderField(ctx: HttpContext): SafeHtml;
  /** The token of the request, for values that are bound to its browser. */
  tokenOf(ctx: HttpContext): string;
  /** @throws FORBIDDEN */
  assertSameSite(ctx: HttpContext, fields: FormFields): void;
}

export function createFormTokens({ secure }: { readonly secure: boolean }): FormTokens {
  /** Tokens of requests that had none. */
  const issued = new WeakMap<HttpContext, string>();

  function tokenOf(ctx: HttpContext): string {
    const present = ctx.cookies.get(COOKIE) ?? issued.get(ctx);
    if (present !== undefined && TOKEN.test(present)) return present;
    const token = randomBytes(32).toString('base64url');
    issued.set(ctx, token);
    ctx.res.appendHeader(
      'Set-Cookie',
      `${COOKIE}=${token}; Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`,
    );
    return token;
  }

  return {
    tokenOf,
    renderField: (ctx) => html`<input type="hidden" name="${FORM_TOKEN_FIELD}" value="${tokenOf(ctx)}">`,
    assertSameSite(ctx, fields) {
      const detail = findForeignSender(ctx, fields);
      if (detail !== undefined) failWithPage(ctx, fail('FORBIDDEN', detail), createRefusedFormPage(rootOf(ctx)));
    },
  };
}

/** Why the form may be from another site; undefined for a form of these pages. */
function findForeignSender(ctx: HttpContext, fields: FormFields): string | undefined {
  const { 'sec-fetch-site': site, origin, host } = ctx.req.headers;
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return `the form was sent by a page that is ${site}`;
  if (origin !== undefined && origin !== 'null' && !(URL.canParse(origin) && new URL(origin).host === host))
    return 'the form was sent by a page of another origin';
  const cookie = ctx.cookies.get(COOKIE) ?? '';
  const token = fields[FORM_TOKEN_FIELD] ?? '';
  const isSame = TOKEN.test(cookie) && TOKEN.test(token) && timingSafeEqual(Buffer.from(cookie), Buffer.from(token));
  return isSame ? undefined : 'the token of the form is not that of the cookie';
}

const createRefusedFormPage = (root: string): Page => ({
  title: 'Please try again',
  body: html`<p class="lead" role="alert">The form was not accepted: it was open for too long, your browser keeps no cookies, or another
site sent it. Open the page again and repeat what you did.</p>
<p class="links"><a href="${root}/admin/login">Go to sign-in</a></p>`,
});
