import type { RouteDescription } from '../http/contract.ts';
import {
  ANY_VALUE_SCHEMA,
  BOOLEAN_SCHEMA,
  describeDataAnswer,
  describeJsonBody,
  describeParameter,
  enumSchema,
  exactObjectSchema,
  INTEGER_SCHEMA,
  listSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  nullableSchema,
  objectSchema,
  RECORD_SCHEMA,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';

const REASON = objectSchema({ code: TEXT_SCHEMA, detail: TEXT_SCHEMA }, ['code']);

const FAILURE = objectSchema(
  {
    type: TEXT_SCHEMA,
    contribution: TEXT_SCHEMA,
    event: TEXT_SCHEMA,
    code: TEXT_SCHEMA,
    message: TEXT_SCHEMA,
    at: TEXT_SCHEMA,
    count: INTEGER_SCHEMA,
    time: TEXT_SCHEMA,
  },
  ['type', 'contribution', 'code', 'count', 'time'],
);

const EXTENSION = exactObjectSchema(
  {
    id: TEXT_SCHEMA,
    name: TEXT_SCHEMA,
    type: nullableSchema(TEXT_SCHEMA),
    local: BOOLEAN_SCHEMA,
    status: enumSchema('loaded', 'discovered', 'failed', 'partial'),
    bundle: nullableSchema(TEXT_SCHEMA),
    schema: nullableSchema(
      objectSchema({ type: TEXT_SCHEMA, local: BOOLEAN_SCHEMA, version: TEXT_SCHEMA }, ['type', 'local']),
    ),
    meta: objectSchema({
      id: TEXT_SCHEMA,
      source: TEXT_SCHEMA,
      enabled: BOOLEAN_SCHEMA,
      folder: TEXT_SCHEMA,
      bundle: nullableSchema(TEXT_SCHEMA),
    }),
  },
  {
    version: TEXT_SCHEMA,
    runtime: TEXT_SCHEMA,
    capabilities: RECORD_SCHEMA,
    stateful: ANY_VALUE_SCHEMA,
    required: BOOLEAN_SCHEMA,
    reason: REASON,
    entries: listSchema(
      objectSchema({ name: TEXT_SCHEMA, type: TEXT_SCHEMA, status: TEXT_SCHEMA, reason: REASON }, ['name', 'type']),
    ),
    settings: objectSchema({ status: TEXT_SCHEMA, reason: REASON }, ['status']),
    failures: listSchema(FAILURE),
  },
);

const components = { schemas: { Extension: EXTENSION } };
const base = { tag: 'extensions', access: 'admin', components } as const;

const list = describeDataAnswer(
  listSchema(schemaRef('Extension')),
  exactObjectSchema({ confinedRuntime: objectSchema({ state: TEXT_SCHEMA, posture: ANY_VALUE_SCHEMA }, ['state']) }),
);

export const EXTENSION_LIST_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Lists the extensions that were found, with their states.',
  answers: list,
};

const DECISION = {
  ...exactObjectSchema(
    {},
    {
      required: nullableSchema(BOOLEAN_SCHEMA),
      meta: exactObjectSchema({ enabled: BOOLEAN_SCHEMA }),
    },
  ),
  minProperties: 1,
};

export const EXTENSION_UPDATE_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary:
    'Switches an extension on or off (`meta.enabled`); says whether what it filters is refused while it is not loaded (`required`; null leaves it to its manifest).',
  params: { id: describeParameter('The id of the extension.') },
  body: describeJsonBody(DECISION),
  answers: describeDataAnswer(nullableSchema(schemaRef('Extension'))),
};

/** JSON Schema of a process in the audit: one that answered with its ledger, or one that is alive and did not answer in time. */
const PROCESS = exactObjectSchema(
  { since: TEXT_SCHEMA, answered: BOOLEAN_SCHEMA },
  { id: TEXT_SCHEMA, address: nullableSchema(TEXT_SCHEMA), left: { type: 'integer' } },
);

export const EXTENSION_AUDIT_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Answers what every package may do here, and what each has done in all processes since they started.',
  answers: describeDataAnswer(
    exactObjectSchema({
      may: listSchema(RECORD_SCHEMA),
      did: listSchema(RECORD_SCHEMA),
      since: TEXT_SCHEMA,
      processes: listSchema(PROCESS),
    }),
  ),
};

export const EXTENSION_APP_CHUNK_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  access: 'public',
  summary: 'Sends the code that extensions have for the app.',
  params: { chunk: describeParameter('The name of the file.') },
  answers: { 200: { 'application/javascript': TEXT_SCHEMA } },
  errors: ['ROUTE_NOT_FOUND'],
};

export const EXTENSION_RELOAD_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Loads extensions that changed, here and in the other processes.',
  answers: list,
};

export const EXTENSION_RESTART_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Starts one confined or failed extension anew, here and in the other processes.',
  body: describeJsonBody(objectSchema({ name: TEXT_SCHEMA }, ['name'])),
  answers: list,
};

export const EXTENSION_DELETE_ROUTE_DESCRIPTION: RouteDescription = {
  ...base,
  summary: 'Removes what is stored about a package: it is enabled then, and required only where its manifest says so.',
  params: { id: describeParameter('The id of the extension.') },
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
  errors: ['ROUTE_NOT_FOUND'],
};
