import type { RouteDescription } from '../../http/contract.ts';
import {
  anyOf,
  BOOLEAN,
  dataAnswer,
  exactObject,
  jsonBody,
  NO_CONTENT,
  nullable,
  objectOf,
  schemaRef,
  TEXT,
} from '../../http/library.ts';
import {
  itemSchema,
  queryComponents,
  SHAPE_PARAMETERS,
  SINGLE_ROW_PARAMETERS,
  WRITE_ERRORS,
} from '../../items/library.ts';
import { USERS } from '../require-user-key.ts';

const user = itemSchema(USERS);

/** The answer for a caller that has the token of a share and no user. */
const SHARE = exactObject({
  share: TEXT,
  role: exactObject({ id: nullable(TEXT), admin_access: BOOLEAN, app_access: BOOLEAN }),
});

const base = {
  tag: 'users',
  access: 'user',
  components: { ...queryComponents, schemas: { ...queryComponents.schemas, ShareCaller: SHARE } },
} as const;

export const READ_ME: RouteDescription = {
  ...base,
  summary: 'Reads the row of the caller; its key alone where the caller may not read it.',
  query: SINGLE_ROW_PARAMETERS,
  answers: dataAnswer(anyOf(user, schemaRef('ShareCaller'))),
};

export const UPDATE_ME: RouteDescription = {
  ...base,
  summary: 'Changes the row of the caller.',
  query: SHAPE_PARAMETERS,
  body: jsonBody(user),
  answers: { ...dataAnswer(user), ...NO_CONTENT },
  errors: WRITE_ERRORS,
};

export const TRACK_PAGE: RouteDescription = {
  ...base,
  summary: 'Remembers the page of the app on which the caller was last.',
  body: jsonBody(objectOf({ last_page: { ...TEXT, maxLength: 255 } }, ['last_page'])),
  answers: NO_CONTENT,
};
