import type { RouteDescription } from '../http/contract.ts';
import {
  describeDataAnswer,
  describeJsonBody,
  enumSchema,
  exactObjectSchema,
  INTEGER_SCHEMA,
  listSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  nullableSchema,
  objectSchema,
  TEXT_SCHEMA,
} from '../http/library.ts';

const base = { tag: 'shares' } as const;

export const USE_SHARE_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Opens a session by a shared link, and counts the use.',
  access: 'public',
  body: describeJsonBody(
    objectSchema(
      {
        share: TEXT_SCHEMA,
        password: nullableSchema(TEXT_SCHEMA),
        mode: nullableSchema(enumSchema('json', 'cookie')),
      },
      ['share'],
    ),
  ),
  answers: describeDataAnswer(
    exactObjectSchema({ access_token: TEXT_SCHEMA, expires: INTEGER_SCHEMA }, { refresh_token: TEXT_SCHEMA }),
  ),
  errors: ['REQUESTS_EXCEEDED'],
};

export const SHARE_INFO_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Answers what the holder of a shared link may know of it.',
  access: 'public',
  params: { id: { schema: TEXT_SCHEMA, description: 'Key of the share.' } },
  answers: describeDataAnswer(
    exactObjectSchema({
      id: TEXT_SCHEMA,
      collection: TEXT_SCHEMA,
      item: TEXT_SCHEMA,
      password: nullableSchema(TEXT_SCHEMA),
      max_uses: nullableSchema(INTEGER_SCHEMA),
      times_used: INTEGER_SCHEMA,
      date_start: nullableSchema(TEXT_SCHEMA),
      date_end: nullableSchema(TEXT_SCHEMA),
    }),
  ),
  errors: ['FORBIDDEN'],
};

export const INVITE_TO_SHARE_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Mails the link of a share to several addresses.',
  access: 'permissions',
  body: describeJsonBody(objectSchema({ share: TEXT_SCHEMA, emails: listSchema(TEXT_SCHEMA) }, ['share', 'emails'])),
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
  errors: ['REQUESTS_EXCEEDED', 'INVALID_CONFIG'],
};
