import type { RouteDescription } from '../http/contract.ts';
import {
  ANY_VALUE_SCHEMA,
  BOOLEAN_SCHEMA,
  dataAnswer,
  describeJsonBody,
  describeParameter,
  exactObject,
  INTEGER_SCHEMA,
  listOf,
  nullable,
  objectOf,
  oneOfTexts,
  RECORD_SCHEMA,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';

const REASON = objectOf({ code: TEXT_SCHEMA, detail: TEXT_SCHEMA }, ['code']);

const FAILURE = objectOf(
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

const EXTENSION = exactObject(
  {
    id: TEXT_SCHEMA,
    name: TEXT_SCHEMA,
    type: nullable(TEXT_SCHEMA),
    local: BOOLEAN_SCHEMA,
    status: oneOfTexts('loaded', 'discovered', 'failed', 'partial'),
    bundle: nullable(TEXT_SCHEMA),
    schema: nullable(objectOf({ type: TEXT_SCHEMA, local: BOOLEAN_SCHEMA, version: TEXT_SCHEMA }, ['type', 'local'])),
    meta: objectOf({
      id: TEXT_SCHEMA,
      source: TEXT_SCHEMA,
      enabled: BOOLEAN_SCHEMA,
      folder: TEXT_SCHEMA,
      bundle: nullable(TEXT_SCHEMA),
    }),
  },
  {
    version: TEXT_SCHEMA,
    runtime: TEXT_SCHEMA,
    capabilities: RECORD_SCHEMA,
    stateful: ANY_VALUE_SCHEMA,
    required: BOOLEAN_SCHEMA,
    reason: REASON,
    entries: listOf(
      objectOf({ name: TEXT_SCHEMA, type: TEXT_SCHEMA, status: TEXT_SCHEMA, reason: REASON }, ['name', 'type']),
    ),
    settings: objectOf({ status: TEXT_SCHEMA, reason: REASON }, ['status']),
    failures: listOf(FAILURE),
  },
);

const components = { schemas: { Extension: EXTENSION } };
const base = { tag: 'extensions', access: 'admin', components } as const;

const list = dataAnswer(
  listOf(schemaRef('Extension')),
  exactObject({ confinedRuntime: objectOf({ state: TEXT_SCHEMA, posture: ANY_VALUE_SCHEMA }, ['state']) }),
);

export const EXTENSION_LIST_ROUTE: RouteDescription = {
  ...base,
  summary: 'Lists the extensions that were found, with their states.',
  answers: list,
};

const DECISION = exactObject({ required: nullable(BOOLEAN_SCHEMA) });

export const EXTENSION_REQUIRE_ROUTE: RouteDescription = {
  ...base,
  summary:
    'Says whether what a package filters is refused while the package is not loaded; null leaves it to its manifest.',
  params: { id: describeParameter('The id of the extension.') },
  body: describeJsonBody(DECISION),
  answers: dataAnswer(nullable(schemaRef('Extension'))),
};

/** JSON Schema of a process in the audit: one that answered with its ledger, or one that is alive and did not answer in time. */
const PROCESS = exactObject(
  { since: TEXT_SCHEMA, answered: BOOLEAN_SCHEMA },
  { id: TEXT_SCHEMA, address: nullable(TEXT_SCHEMA), left: { type: 'integer' } },
);

export const EXTENSION_AUDIT_ROUTE: RouteDescription = {
  ...base,
  summary: 'Answers what every package may do here, and what each has done in all processes since they started.',
  answers: dataAnswer(
    exactObject({
      may: listOf(RECORD_SCHEMA),
      did: listOf(RECORD_SCHEMA),
      since: TEXT_SCHEMA,
      processes: listOf(PROCESS),
    }),
  ),
};

export const EXTENSION_SOURCE_ROUTE: RouteDescription = {
  ...base,
  access: 'public',
  summary: 'Sends the code that extensions have for the app.',
  params: { chunk: describeParameter('The name of the file.') },
  answers: { 200: { 'application/javascript': TEXT_SCHEMA } },
  errors: ['ROUTE_NOT_FOUND'],
};

export const EXTENSION_RELOAD_ROUTE: RouteDescription = {
  ...base,
  summary: 'Loads extensions that changed, here and in the other processes.',
  answers: list,
};

export const EXTENSION_RESTART_ROUTE: RouteDescription = {
  ...base,
  summary: 'Starts one confined or failed extension anew, here and in the other processes.',
  body: describeJsonBody(objectOf({ name: TEXT_SCHEMA }, ['name'])),
  answers: list,
};
