import type { RouteDescription } from '../http/contract.ts';
import {
  ANYTHING,
  BOOLEAN,
  dataAnswer,
  exactObject,
  INTEGER,
  jsonBody,
  listOf,
  nullable,
  objectOf,
  oneOfTexts,
  parameter,
  RECORD,
  schemaRef,
  TEXT,
} from '../http/library.ts';

const REASON = objectOf({ code: TEXT, detail: TEXT }, ['code']);

const FAILURE = objectOf(
  { type: TEXT, contribution: TEXT, event: TEXT, code: TEXT, message: TEXT, at: TEXT, count: INTEGER, time: TEXT },
  ['type', 'contribution', 'code', 'count', 'time'],
);

const EXTENSION = exactObject(
  {
    id: TEXT,
    name: TEXT,
    type: nullable(TEXT),
    local: BOOLEAN,
    status: oneOfTexts('loaded', 'discovered', 'failed', 'partial'),
    bundle: nullable(TEXT),
    schema: nullable(objectOf({ type: TEXT, local: BOOLEAN, version: TEXT }, ['type', 'local'])),
    meta: objectOf({ id: TEXT, source: TEXT, enabled: BOOLEAN, folder: TEXT, bundle: nullable(TEXT) }),
  },
  {
    version: TEXT,
    runtime: TEXT,
    capabilities: RECORD,
    stateful: ANYTHING,
    required: BOOLEAN,
    reason: REASON,
    entries: listOf(objectOf({ name: TEXT, type: TEXT, status: TEXT, reason: REASON }, ['name', 'type'])),
    settings: objectOf({ status: TEXT, reason: REASON }, ['status']),
    failures: listOf(FAILURE),
  },
);

const components = { schemas: { Extension: EXTENSION } };
const base = { tag: 'extensions', access: 'admin', components } as const;

const list = dataAnswer(
  listOf(schemaRef('Extension')),
  exactObject({ confinedRuntime: objectOf({ state: TEXT, posture: ANYTHING }, ['state']) }),
);

export const LIST: RouteDescription = {
  ...base,
  summary: 'Lists the extensions that were found, with their states.',
  answers: list,
};

const DECISION = exactObject({ required: nullable(BOOLEAN) });

export const REQUIRE: RouteDescription = {
  ...base,
  summary:
    'Says whether what a package filters is refused while the package is not loaded; null leaves it to its manifest.',
  params: { id: parameter('The id of the extension.') },
  body: jsonBody(DECISION),
  answers: dataAnswer(nullable(schemaRef('Extension'))),
};

/** JSON Schema of a process in the audit: one that answered with its ledger, or one that is alive and did not answer in time. */
const PROCESS = exactObject(
  { since: TEXT, answered: BOOLEAN },
  { id: TEXT, address: nullable(TEXT), left: { type: 'integer' } },
);

export const AUDIT: RouteDescription = {
  ...base,
  summary: 'Answers what every package may do here, and what each has done in all processes since they started.',
  answers: dataAnswer(
    exactObject({ may: listOf(RECORD), did: listOf(RECORD), since: TEXT, processes: listOf(PROCESS) }),
  ),
};

export const SOURCE: RouteDescription = {
  ...base,
  access: 'public',
  summary: 'Sends the code that extensions have for the app.',
  params: { chunk: parameter('The name of the file.') },
  answers: { 200: { 'application/javascript': TEXT } },
  errors: ['ROUTE_NOT_FOUND'],
};

export const RELOAD: RouteDescription = {
  ...base,
  summary: 'Loads extensions that changed, here and in the other processes.',
  answers: list,
};

export const RESTART: RouteDescription = {
  ...base,
  summary: 'Starts one confined or failed extension anew, here and in the other processes.',
  body: jsonBody(objectOf({ name: TEXT }, ['name'])),
  answers: list,
};
