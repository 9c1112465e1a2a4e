import { PROVIDER_CALLBACK_ANSWERS, PROVIDER_CALLBACK_ERRORS } from '../auth-providers/library.ts';
import type { RouteDescription } from '../http/contract.ts';
import {
  describeDataAnswer,
  exactObjectSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  nullableSchema,
  objectSchema,
  TEXT_SCHEMA,
} from '../http/library.ts';

const base = {
  tag: 'authentication',
  access: 'public',
  params: { provider: { schema: TEXT_SCHEMA, description: 'Name of the provider, whose driver is `saml`.' } },
} as const;

const FORM = 'application/x-www-form-urlencoded';

export const ACS_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Completes a sign-in by the response that an identity provider of SAML posts by the browser.',
  body: { content: { [FORM]: objectSchema({ SAMLResponse: TEXT_SCHEMA, RelayState: TEXT_SCHEMA }, ['SAMLResponse']) } },
  answers: PROVIDER_CALLBACK_ANSWERS,
  errors: [...PROVIDER_CALLBACK_ERRORS, 'OUT_OF_TIME'],
};

export const METADATA_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'The metadata of this service for an identity provider of SAML, as XML.',
  answers: { 200: { 'application/samlmetadata+xml': {} } },
  errors: ['ROUTE_NOT_FOUND', 'INVALID_CONFIG'],
};

const FIELDS = { refresh_token: nullableSchema(TEXT_SCHEMA), redirect: nullableSchema(TEXT_SCHEMA) };

export const LOGOUT_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary:
    'Single logout: ends the session of the token or cookie, and names the address where it ends at the identity provider; or takes the request or answer that the identity provider posts by the browser.',
  body: {
    required: false,
    content: {
      'application/json': objectSchema(FIELDS),
      [FORM]: objectSchema({
        refresh_token: TEXT_SCHEMA,
        redirect: TEXT_SCHEMA,
        SAMLRequest: TEXT_SCHEMA,
        SAMLResponse: TEXT_SCHEMA,
        RelayState: TEXT_SCHEMA,
      }),
    },
  },
  answers: {
    ...describeDataAnswer(exactObjectSchema({ location: nullableSchema(TEXT_SCHEMA) })),
    ...NO_CONTENT_ANSWER_DESCRIPTION,
    303: {},
  },
  errors: ['ROUTE_NOT_FOUND', 'INVALID_CONFIG', 'OUT_OF_TIME'],
};
