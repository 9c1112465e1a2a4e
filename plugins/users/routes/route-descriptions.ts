import type { RouteDescription } from '../../http/contract.ts';
import {
  anyOfSchema,
  BOOLEAN_SCHEMA,
  describeDataAnswer,
  describeJsonBody,
  exactObjectSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  nullableSchema,
  objectSchema,
  schemaRef,
  TEXT_SCHEMA,
} from '../../http/library.ts';
import {
  ANSWER_SHAPE_QUERY_PARAMETER_REFS,
  itemSchema,
  queryOpenApiComponents,
  SINGLE_ROW_QUERY_PARAMETER_REFS,
  WRITE_ERROR_CODES,
} from '../../items/library.ts';
import { USERS_COLLECTION } from '../require-caller-user.ts';

const user = itemSchema(USERS_COLLECTION);

/** The answer for a caller that has the token of a share and no user. */
const SHARE = exactObjectSchema({
  share: TEXT_SCHEMA,
  role: exactObjectSchema({
    id: nullableSchema(TEXT_SCHEMA),
    admin_access: BOOLEAN_SCHEMA,
    app_access: BOOLEAN_SCHEMA,
  }),
});

const base = {
  tag: 'users',
  access: 'user',
  components: { ...queryOpenApiComponents, schemas: { ...queryOpenApiComponents.schemas, ShareCaller: SHARE } },
} as const;

export const READ_ME_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Reads the row of the caller; its key alone where the caller may not read it.',
  query: SINGLE_ROW_QUERY_PARAMETER_REFS,
  answers: describeDataAnswer(anyOfSchema(user, schemaRef('ShareCaller'))),
};

export const UPDATE_ME_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Changes the row of the caller.',
  query: ANSWER_SHAPE_QUERY_PARAMETER_REFS,
  body: describeJsonBody(user),
  answers: { ...describeDataAnswer(user), ...NO_CONTENT_ANSWER_DESCRIPTION },
  errors: WRITE_ERROR_CODES,
};

export const TRACK_PAGE_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Remembers the page of the app on which the caller was last.',
  body: describeJsonBody(objectSchema({ last_page: { ...TEXT_SCHEMA, maxLength: 255 } }, ['last_page'])),
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
};
