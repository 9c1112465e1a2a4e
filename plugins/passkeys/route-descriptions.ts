import type { JsonSchema, RouteDescription } from '../http/contract.ts';
import {
  BOOLEAN_SCHEMA,
  describeDataAnswer,
  describeJsonBody,
  describeParameter,
  exactObjectSchema,
  listSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  nullableSchema,
  objectSchema,
  RECORD_SCHEMA,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';
import { NEW_CREDENTIAL_SCHEMA } from './credential-schemas.ts';

/** The name that a user gives a passkey. */
export const NAME_SCHEMA: JsonSchema = {
  type: 'string',
  maxLength: 100,
  pattern: '^[^\\p{Cc}]*[^\\p{Cc}\\s][^\\p{Cc}]*$',
};

/** `synced`: the passkey may be on several devices; `backed_up`: it is. */
const PASSKEY = exactObjectSchema({
  id: TEXT_SCHEMA,
  name: TEXT_SCHEMA,
  credential: TEXT_SCHEMA,
  transports: listSchema(TEXT_SCHEMA),
  synced: BOOLEAN_SCHEMA,
  backed_up: BOOLEAN_SCHEMA,
  date_created: TEXT_SCHEMA,
  last_used: nullableSchema(TEXT_SCHEMA),
});

export const BEGIN_BODY_SCHEMA = objectSchema({ password: TEXT_SCHEMA });
export const FINISH_BODY_SCHEMA = objectSchema({ credential: NEW_CREDENTIAL_SCHEMA, name: NAME_SCHEMA }, [
  'credential',
]);
export const RENAME_BODY_SCHEMA = objectSchema({ name: NAME_SCHEMA }, ['name']);

const components = { schemas: { Passkey: PASSKEY } };
const own = { tag: 'users', access: 'user', components } as const;
const ofUser = { tag: 'users', access: 'admin', components } as const;
const passkey = { passkey: describeParameter('Key of the passkey, the member `id` of the list.') };
const user = { id: describeParameter('Key of the user.') };
/** Options as the browser parses them: `PublicKeyCredential.parseCreationOptionsFromJSON`, `parseRequestOptionsFromJSON`. */
const OPTIONS = describeDataAnswer(RECORD_SCHEMA);

export const BEGIN_ROUTE_DESCRIPTION: RouteDescription = {
  ...own,
  summary: 'Confirms the caller by the password or a recent sign-in, and answers options for a new passkey.',
  body: describeJsonBody(BEGIN_BODY_SCHEMA),
  answers: OPTIONS,
  errors: ['INVALID_CONFIG'],
};

export const FINISH_ROUTE_DESCRIPTION: RouteDescription = {
  ...own,
  summary: 'Stores the passkey that the browser has made of the options.',
  body: describeJsonBody(FINISH_BODY_SCHEMA),
  answers: describeDataAnswer(schemaRef('Passkey')),
  errors: ['INVALID_CONFIG', 'RECORD_NOT_UNIQUE'],
};

export const LIST_OWN_ROUTE_DESCRIPTION: RouteDescription = {
  ...own,
  summary: 'Lists the passkeys of the caller.',
  answers: describeDataAnswer(listSchema(schemaRef('Passkey'))),
};

export const RENAME_ROUTE_DESCRIPTION: RouteDescription = {
  ...own,
  summary: 'Gives a passkey of the caller another name.',
  params: passkey,
  body: describeJsonBody(RENAME_BODY_SCHEMA),
  answers: describeDataAnswer(schemaRef('Passkey')),
};

export const REMOVE_OWN_ROUTE_DESCRIPTION: RouteDescription = {
  ...own,
  summary: 'Removes a passkey of the caller, which signs in no more.',
  params: passkey,
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
};

export const LIST_OF_USER_ROUTE_DESCRIPTION: RouteDescription = {
  ...ofUser,
  summary: 'Lists the passkeys of a user.',
  params: user,
  answers: describeDataAnswer(listSchema(schemaRef('Passkey'))),
};

export const REMOVE_OF_USER_ROUTE_DESCRIPTION: RouteDescription = {
  ...ofUser,
  summary: 'Removes a passkey of a user.',
  params: { ...user, ...passkey },
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
};

export const REMOVE_ALL_OF_USER_ROUTE_DESCRIPTION: RouteDescription = {
  ...ofUser,
  summary: 'Removes all passkeys of a user.',
  params: user,
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
};

export const SIGN_IN_OPTIONS_ROUTE_DESCRIPTION: RouteDescription = {
  tag: 'authentication',
  access: 'public',
  summary: 'Answers options for a sign-in by a passkey, with a challenge that is good for five minutes.',
  answers: OPTIONS,
  errors: ['INVALID_CONFIG'],
};
