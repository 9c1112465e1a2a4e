import type { RouteDescription } from '../http/contract.ts';
import {
  describeDataAnswer,
  describeJsonBody,
  exactObjectSchema,
  INTEGER_SCHEMA,
  listSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  objectSchema,
  TEXT_SCHEMA,
} from '../http/library.ts';

const base = { tag: 'users', access: 'user' } as const;

export const GENERATE_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary:
    'Offers a secret for one-time codes to the caller, who repeats the password. Users of other providers send none.',
  body: describeJsonBody(objectSchema({ password: TEXT_SCHEMA })),
  answers: describeDataAnswer(exactObjectSchema({ secret: TEXT_SCHEMA, otpauth_url: TEXT_SCHEMA })),
};

export const ENABLE_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Turns two-factor sign-in on for the caller, by a code of the secret that was generated last.',
  body: describeJsonBody(objectSchema({ secret: TEXT_SCHEMA, otp: TEXT_SCHEMA }, ['secret', 'otp'])),
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
  errors: ['INVALID_OTP'],
};

export const DISABLE_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Turns two-factor sign-in off for the caller, by a one-time code or a recovery code.',
  body: describeJsonBody(objectSchema({ otp: TEXT_SCHEMA }, ['otp'])),
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
  errors: ['INVALID_OTP'],
};

export const RENEW_RECOVERY_CODES_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Answers new recovery codes, each of which replaces a one-time code once. All earlier ones are invalid.',
  body: describeJsonBody(objectSchema({ password: TEXT_SCHEMA, otp: TEXT_SCHEMA }, ['otp'])),
  answers: describeDataAnswer(exactObjectSchema({ recovery_codes: listSchema(TEXT_SCHEMA) })),
  errors: ['INVALID_OTP'],
};

export const COUNT_RECOVERY_CODES_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Answers how many recovery codes of the caller are unused.',
  answers: describeDataAnswer(exactObjectSchema({ remaining: INTEGER_SCHEMA })),
};

export const RESET_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  access: 'admin',
  summary: 'Turns two-factor sign-in off for a user.',
  params: { id: { schema: TEXT_SCHEMA, description: 'Key of the user.' } },
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
};
