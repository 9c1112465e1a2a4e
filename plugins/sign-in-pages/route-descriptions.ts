import type { RouteDescription, SchemaByMediaType } from '../http/contract.ts';
import { describeParameter, objectSchema, TEXT_SCHEMA } from '../http/library.ts';

const PAGE: SchemaByMediaType = { 'text/html': TEXT_SCHEMA };
/** Errors are pages as well, with the status that the JSON API answers. */
const PAGE_STATUSES = [200, 400, 401, 403, 404, 408, 413, 415, 422, 429, 500, 503];
const answers: RouteDescription['answers'] = {
  ...Object.fromEntries(PAGE_STATUSES.map((status) => [status, PAGE])),
  303: {},
};

const base = { tag: 'sign-in pages', access: 'public', answers } as const;
const form = {
  content: {
    'application/x-www-form-urlencoded': objectSchema({ form_token: TEXT_SCHEMA }, ['form_token']),
  },
};
const REDIRECT = describeParameter('Path to open after the sign-in; anything but a path of this host is ignored.');
const TOKEN = describeParameter('Token of the link in the mail.');
const SHARE_ID = { id: describeParameter('Key of the share.') };

/** Shows a page. */
export const describePage = (
  summary: string,
  query: RouteDescription['query'] = {},
  params?: RouteDescription['params'],
): RouteDescription => ({ ...base, summary, query, ...(params ? { params } : {}) });

/** Takes the form of a page. */
export const describePageForm = (
  summary: string,
  query: RouteDescription['query'] = {},
  params?: RouteDescription['params'],
): RouteDescription => ({ ...describePage(summary, query, params), body: form });

export const LOGIN_PARAMETERS = {
  redirect: REDIRECT,
  reason: describeParameter('Code of the error with which a sign-in by a provider failed.'),
  notice: describeParameter(
    'What was done before: `signed-out`, `password-changed`, `invitation-accepted`, `email-verified`.',
  ),
};
export const CODE_PARAMETERS = { provider: describeParameter('Name of the provider.') };
export const TOKEN_PARAMETERS = { token: TOKEN };
export const SHARE_PARAMETERS = SHARE_ID;

export const PAGE_FILE_ROUTE_DESCRIPTION: RouteDescription = {
  tag: 'sign-in pages',
  access: 'public',
  summary: 'Sends a style sheet, script or icon of the sign-in pages.',
  params: { file: describeParameter('Name of the file, as the pages have it.') },
  answers: {
    200: { 'text/css': TEXT_SCHEMA, 'text/javascript': TEXT_SCHEMA, 'image/svg+xml': TEXT_SCHEMA },
  },
  errors: ['ROUTE_NOT_FOUND'],
};
