import type { RouteDescription } from '../../http/contract.ts';
import {
  dataEnvelopeSchema,
  describeDataAnswer,
  describeParameter,
  exactObjectSchema,
  INTEGER_SCHEMA,
  listSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  nullableSchema,
  TEXT_SCHEMA,
} from '../../http/library.ts';
import { RUN_STATUSES } from './run-statuses.ts';

export const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 1000;

const RUN = {
  id: TEXT_SCHEMA,
  status: { type: 'string', enum: [...RUN_STATUSES] },
  started: TEXT_SCHEMA,
  ended: nullableSchema(TEXT_SCHEMA),
  duration: nullableSchema(INTEGER_SCHEMA),
  step: nullableSchema(TEXT_SCHEMA),
  error: {},
  user: nullableSchema(TEXT_SCHEMA),
  activity: nullableSchema(INTEGER_SCHEMA),
  retry_of: nullableSchema(TEXT_SCHEMA),
  retry_until: nullableSchema(TEXT_SCHEMA),
};

const STEP = exactObjectSchema({
  operation: TEXT_SCHEMA,
  key: TEXT_SCHEMA,
  status: TEXT_SCHEMA,
  started: TEXT_SCHEMA,
  duration: INTEGER_SCHEMA,
  options: {},
  output: {},
  missing: listSchema(TEXT_SCHEMA),
});

const COUNTS = exactObjectSchema({
  runs: INTEGER_SCHEMA,
  failures: INTEGER_SCHEMA,
  last_run: nullableSchema(TEXT_SCHEMA),
  last_failure: nullableSchema(TEXT_SCHEMA),
});

const ofAdmins = { tag: 'flows', access: 'admin' } as const;
const id = describeParameter('Id of the flow.');
const run = describeParameter('Id of the run.');

export const RUN_LIST_ROUTE_DESCRIPTION: RouteDescription = {
  ...ofAdmins,
  summary: 'Lists the runs of a flow, the latest first, as far as its accountability keeps them, and how often it ran.',
  params: { id },
  query: {
    status: describeParameter(`Only runs with one of these statuses, divided by commas: ${RUN_STATUSES.join(', ')}.`),
    limit: describeParameter(`Number of runs, ${DEFAULT_LIMIT} by default, at most ${MAX_LIMIT}.`, INTEGER_SCHEMA),
    page: describeParameter('Page of that many runs, from 1.', INTEGER_SCHEMA),
  },
  answers: {
    200: {
      'application/json': dataEnvelopeSchema(
        listSchema(exactObjectSchema(RUN)),
        exactObjectSchema({ total_count: INTEGER_SCHEMA, counts: COUNTS }),
      ),
    },
  },
};

export const RUN_ROUTE_DESCRIPTION: RouteDescription = {
  ...ofAdmins,
  summary: 'Answers a run of a flow with its steps, without secrets.',
  params: { id, run },
  answers: describeDataAnswer(exactObjectSchema({ ...RUN, steps: listSchema(STEP) })),
};

export const CANCEL_RUN_ROUTE_DESCRIPTION: RouteDescription = {
  ...ofAdmins,
  summary: 'Cancels a run that waits or runs, in any process: no further operation begins.',
  params: { id, run },
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
};

export const RETRY_RUN_ROUTE_DESCRIPTION: RouteDescription = {
  ...ofAdmins,
  summary: 'Runs a flow again, from its start, with the trigger of an ended run and for the same caller.',
  params: { id, run },
  answers: describeDataAnswer(exactObjectSchema({ id: TEXT_SCHEMA })),
};
