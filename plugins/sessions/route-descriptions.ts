import type { RouteDescription } from '../http/contract.ts';
import {
  BOOLEAN_SCHEMA,
  describeDataAnswer,
  describeParameter,
  exactObjectSchema,
  INTEGER_SCHEMA,
  listSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  nullableSchema,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';

/** `created`, `last_used` and `expires` are times in ISO 8601; `created` and `last_used` are null for sessions that an earlier version opened. */
const SESSION = exactObjectSchema({
  id: TEXT_SCHEMA,
  current: BOOLEAN_SCHEMA,
  created: nullableSchema(TEXT_SCHEMA),
  last_used: nullableSchema(TEXT_SCHEMA),
  expires: TEXT_SCHEMA,
  ip: nullableSchema(TEXT_SCHEMA),
  user_agent: nullableSchema(TEXT_SCHEMA),
  origin: nullableSchema(TEXT_SCHEMA),
});

const id = describeParameter('Key of the user.');
const session = describeParameter('Id of the session.');
const list = {
  query: {
    limit: describeParameter('How many sessions to answer; default 100.', {
      ...INTEGER_SCHEMA,
      minimum: 1,
      maximum: 1000,
    }),
    offset: describeParameter('How many sessions to leave out.', { ...INTEGER_SCHEMA, minimum: 0 }),
  },
  answers: describeDataAnswer(listSchema(schemaRef('Session'))),
  components: { schemas: { Session: SESSION } },
} as const;
const own = { tag: 'users', access: 'user' } as const;
const ofUser = { tag: 'users', access: 'admin' } as const;

export const LIST_OWN_SESSIONS_ROUTE_DESCRIPTION: RouteDescription = {
  ...own,
  ...list,
  summary: 'Lists the open sessions of the caller, the one used last first.',
};

export const END_OTHER_SESSIONS_ROUTE_DESCRIPTION: RouteDescription = {
  ...own,
  summary: 'Ends all sessions of the caller but that of the access token; all of them by a static token.',
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
};

export const END_OWN_SESSION_ROUTE_DESCRIPTION: RouteDescription = {
  ...own,
  summary: 'Ends one session of the caller.',
  params: { session },
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
};

export const LIST_SESSIONS_OF_USER_ROUTE_DESCRIPTION: RouteDescription = {
  ...ofUser,
  ...list,
  summary: 'Lists the open sessions of a user.',
  params: { id },
};

export const END_SESSIONS_OF_USER_ROUTE_DESCRIPTION: RouteDescription = {
  ...ofUser,
  summary: 'Ends all sessions of a user.',
  params: { id },
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
};

export const END_SESSION_OF_USER_ROUTE_DESCRIPTION: RouteDescription = {
  ...ofUser,
  summary: 'Ends one session of a user.',
  params: { id, session },
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
};
