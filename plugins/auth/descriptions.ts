import type { RouteDescription } from '../http/contract.ts';
import {
  BOOLEAN,
  dataAnswer,
  exactObject,
  INTEGER,
  jsonBody,
  listOf,
  NO_CONTENT,
  nullable,
  objectOf,
  oneOfTexts,
  schemaRef,
  TEXT,
} from '../http/library.ts';

/** Where a sign-in answers the refresh token: in the body (`json`), or in a cookie that scripts cannot read (`cookie`). */
const MODE = nullable(oneOfTexts('json', 'cookie'));

/** `expires`: milliseconds for which the access token is valid. */
const TOKENS = exactObject({ access_token: TEXT, expires: INTEGER }, { refresh_token: TEXT });

const components = {
  schemas: { Tokens: TOKENS, RefreshToken: objectOf({ refresh_token: nullable(TEXT), mode: MODE }) },
};
const base = { tag: 'authentication', access: 'public', components } as const;

export const LOGIN: RouteDescription = {
  ...base,
  summary: 'Opens a session by e-mail address and password.',
  body: jsonBody(objectOf({ email: TEXT, password: TEXT, mode: MODE }, ['email', 'password'])),
  answers: dataAnswer(schemaRef('Tokens')),
  errors: ['INVALID_OTP', 'INVALID_PROVIDER'],
};

export const LOGIN_BY: RouteDescription = {
  ...base,
  summary: 'Opens a session by the credentials of a sign-in provider.',
  params: { provider: { schema: TEXT, description: 'Name of the provider.' } },
  body: jsonBody(objectOf({ mode: MODE })),
  answers: dataAnswer(schemaRef('Tokens')),
  errors: ['INVALID_OTP', 'INVALID_PROVIDER', 'ROUTE_NOT_FOUND'],
};

export const REFRESH: RouteDescription = {
  ...base,
  summary: 'Exchanges a refresh token, from the body or the cookie, for new tokens.',
  body: jsonBody(schemaRef('RefreshToken'), { required: false }),
  answers: dataAnswer(schemaRef('Tokens')),
};

export const LOGOUT: RouteDescription = {
  ...base,
  summary: 'Closes the session of a refresh token, from the body or the cookie.',
  body: jsonBody(schemaRef('RefreshToken'), { required: false }),
  answers: NO_CONTENT,
};

export const PROVIDERS: RouteDescription = {
  ...base,
  summary: 'Lists the sign-in providers, and says whether sign-in by password is off.',
  answers: {
    200: {
      'application/json': exactObject({
        data: listOf(exactObject({ name: TEXT, driver: TEXT, icon: nullable(TEXT) })),
        disableDefault: BOOLEAN,
      }),
    },
  },
};
