import type { ErrorCode } from '#kernel';
import type { RouteDescription } from '../http/contract.ts';
import {
  describeDataAnswer,
  describeJsonBody,
  describeParameter,
  enumSchema,
  exactObjectSchema,
  INTEGER_SCHEMA,
  NO_CONTENT_ANSWER_DESCRIPTION,
  nullableSchema,
  objectSchema,
  TEXT_SCHEMA,
} from '../http/library.ts';

const base = {
  tag: 'authentication',
  access: 'public',
  params: { provider: { schema: TEXT_SCHEMA, description: 'Name of the provider.' } },
} as const;

const REDIRECT = describeParameter(
  'Where the browser ends: a path, an address of the origin of PUBLIC_URL, or one of AUTH_<NAME>_REDIRECT_ALLOW_LIST. After a failure it has `reason`, the error code.',
);
const START_ERRORS: readonly ErrorCode[] = ['ROUTE_NOT_FOUND', 'INVALID_PROVIDER', 'INVALID_CONFIG'];

/** Codes of a callback without `redirect`; with one, they are the `reason` of the redirect. For routes of drivers with a callback of their own. */
export const PROVIDER_CALLBACK_ERRORS: readonly ErrorCode[] = [
  ...START_ERRORS,
  'INVALID_OTP',
  'RECORD_NOT_UNIQUE',
  'FAILED_VALIDATION',
  'INVALID_FOREIGN_KEY',
  'UNPROCESSABLE_ENTITY',
  'FORBIDDEN',
];

/** The answers of a callback: the browser is redirected, or the tokens are answered. */
export const PROVIDER_CALLBACK_ANSWERS: RouteDescription['answers'] = {
  ...describeDataAnswer(
    exactObjectSchema({ access_token: TEXT_SCHEMA, expires: INTEGER_SCHEMA }, { refresh_token: TEXT_SCHEMA }),
  ),
  302: {},
};

export const BEGIN_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Begins a sign-in: redirects the browser to the sign-in provider.',
  query: {
    redirect: REDIRECT,
    mode: describeParameter(
      'Where the refresh token is answered; with `redirect` always `cookie`.',
      enumSchema('json', 'cookie'),
    ),
    prompt: describeParameter('Passed on to the provider, such as `login`.'),
  },
  answers: { 302: {} },
  errors: START_ERRORS,
};

export const CALLBACK_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Completes a sign-in when the browser returns from the sign-in provider.',
  answers: PROVIDER_CALLBACK_ANSWERS,
  errors: PROVIDER_CALLBACK_ERRORS,
};

export const FORM_CALLBACK_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Takes the form that a sign-in provider posts by the browser, and redirects to the callback.',
  body: { content: { 'application/x-www-form-urlencoded': objectSchema({}) } },
  answers: { 303: {} },
  errors: ['ROUTE_NOT_FOUND', 'INVALID_PROVIDER', 'OUT_OF_TIME'],
};

export const CODE_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary:
    'Completes a sign-in by a provider whose user has a second factor: takes the ticket that the callback answered, or that the browser has as a cookie.',
  body: describeJsonBody(objectSchema({ otp: TEXT_SCHEMA, ticket: nullableSchema(TEXT_SCHEMA) }, ['otp'])),
  answers: describeDataAnswer(
    exactObjectSchema(
      { access_token: TEXT_SCHEMA, expires: INTEGER_SCHEMA },
      { refresh_token: TEXT_SCHEMA, redirect: TEXT_SCHEMA },
    ),
  ),
  errors: ['ROUTE_NOT_FOUND', 'INVALID_PROVIDER', 'INVALID_OTP'],
};

export const BACKCHANNEL_LOGOUT_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Ends the sessions that a logout token of the provider names (OpenID Connect Back-Channel Logout).',
  body: {
    content: { 'application/x-www-form-urlencoded': objectSchema({ logout_token: TEXT_SCHEMA }, ['logout_token']) },
  },
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
  errors: ['ROUTE_NOT_FOUND', 'INVALID_PROVIDER', 'OUT_OF_TIME'],
};

export const LOGOUT_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary:
    'Redirects the browser to the sign-out of the sign-in provider; the session here ends by `POST /auth/logout`.',
  query: { redirect: REDIRECT },
  answers: { 302: {} },
  errors: START_ERRORS,
};
