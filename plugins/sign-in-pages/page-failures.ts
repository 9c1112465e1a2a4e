import { ClientGone, Failure, type Log, type Middleware } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { html } from './html.ts';
import type { Page } from './page.ts';
import type { SendPage } from './page-response.ts';
import { problemOf, statusOf } from './problems.ts';

interface FailurePage {
  readonly page: Page;
  readonly status: number | undefined;
}

/** The pages of requests that fail, until the outer layer sends them. */
const failurePages = new WeakMap<object, FailurePage>();

/**
 * Fails a request with the error, and has the outer layer show this page. The error passes the layers between, so that failed sign-ins
 * cost their address as much as by the JSON API.
 * @param status of the response; default: that of the error
 */
export function failWithPage(ctx: HttpContext, error: unknown, page: Page, status?: number): never {
  failurePages.set(ctx, { page, status });
  throw error;
}

const PAGE_PATH =
  /^\/admin(?:\/(?:login(?:\/code)?|logout|reset-password|accept-invite|verify-email|share\/[^/]+))?\/?$/;

/** Shows errors as pages, at the paths of this plugin alone: those of other layers too, such as limits. */
export const createPageFailureMiddleware = (sendPage: SendPage, log: Log): Middleware => ({
  name: 'sign-in-page-failures',
  phase: 'edge',
  async handle(ctx, next) {
    if (!PAGE_PATH.test(ctx.path)) return next();
    try {
      await next();
    } catch (error) {
      if (error instanceof ClientGone) throw error;
      const { page, status } = failurePages.get(ctx) ?? { page: createErrorPage(error), status: undefined };
      logFailure(log, error);
      await sendPage(ctx as unknown as HttpContext, page, status ?? statusOf(error));
      const { retryAfter } = error instanceof Failure ? error.extensions : {};
      if (retryAfter !== undefined) ctx.set('Retry-After', String(retryAfter));
    }
  },
});

/** An overload, with 503, is no bug: its stack does not help. */
function logFailure(log: Log, error: unknown): void {
  const status = statusOf(error);
  const about = status === 503 && error instanceof Failure ? { detail: error.detail } : { err: error };
  if (status >= 500) log.error(about, 'a sign-in page failed');
}

const createErrorPage = (error: unknown): Page => ({
  title: 'This did not work',
  body: html`<p class="lead" role="alert">${problemOf(error).text}</p>`,
});
