import type { RouteDescription } from '../http/contract.ts';
import {
  BOOLEAN_SCHEMA,
  describeDataAnswer,
  describeJsonBody,
  enumSchema,
  exactObjectSchema,
  INTEGER_SCHEMA,
  listSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  nullableSchema,
  objectSchema,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';

/** Where a sign-in answers the refresh token: in the body (`json`), or in a cookie that scripts cannot read (`cookie`). */
const MODE = nullableSchema(enumSchema('json', 'cookie'));

/** `expires`: milliseconds for which the access token is valid. */
const TOKENS = exactObjectSchema(
  { access_token: TEXT_SCHEMA, expires: INTEGER_SCHEMA },
  { refresh_token: TEXT_SCHEMA },
);

const components = {
  schemas: { Tokens: TOKENS, RefreshToken: objectSchema({ refresh_token: nullableSchema(TEXT_SCHEMA), mode: MODE }) },
};
const base = { tag: 'authentication', access: 'public', components } as const;

export const LOGIN_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Opens a session by e-mail address and password.',
  body: describeJsonBody(
    objectSchema({ email: TEXT_SCHEMA, password: TEXT_SCHEMA, mode: MODE }, ['email', 'password']),
  ),
  answers: describeDataAnswer(schemaRef('Tokens')),
  errors: ['INVALID_OTP', 'INVALID_PROVIDER'],
};

export const PROVIDER_LOGIN_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Opens a session by the credentials of a sign-in provider.',
  params: { provider: { schema: TEXT_SCHEMA, description: 'Name of the provider.' } },
  body: describeJsonBody(objectSchema({ mode: MODE })),
  answers: describeDataAnswer(schemaRef('Tokens')),
  errors: [
    'INVALID_OTP',
    'INVALID_PROVIDER',
    'ROUTE_NOT_FOUND',
    // Of the registration of a user, and of a provider that does not accept this service.
    'INVALID_CONFIG',
    'RECORD_NOT_UNIQUE',
    'FAILED_VALIDATION',
    'INVALID_FOREIGN_KEY',
    'UNPROCESSABLE_ENTITY',
  ],
};

export const REFRESH_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Exchanges a refresh token, from the body or the cookie, for new tokens.',
  readsCookie: true,
  body: describeJsonBody(schemaRef('RefreshToken'), { required: false }),
  answers: describeDataAnswer(schemaRef('Tokens')),
};

export const LOGOUT_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Closes the session of a refresh token, from the body or the cookie.',
  readsCookie: true,
  body: describeJsonBody(schemaRef('RefreshToken'), { required: false }),
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
};

export const AUTH_PROVIDERS_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Lists the sign-in providers, and says whether sign-in by password is off.',
  answers: {
    200: {
      'application/json': exactObjectSchema({
        data: listSchema(
          exactObjectSchema({
            name: TEXT_SCHEMA,
            driver: TEXT_SCHEMA,
            icon: nullableSchema(TEXT_SCHEMA),
            label: TEXT_SCHEMA,
          }),
        ),
        disableDefault: BOOLEAN_SCHEMA,
      }),
    },
  },
};
