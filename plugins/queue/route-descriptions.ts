import type { RouteDescription } from '../http/contract.ts';
import {
  ANY_VALUE_SCHEMA,
  describeDataAnswer,
  describeParameter,
  enumSchema,
  exactObjectSchema,
  INTEGER_SCHEMA,
  listSchema,
  NO_CONTENT_ANSWER_DESCRIPTION,
  nullableSchema,
  schemaRef,
  TEXT_SCHEMA,
} from '../http/library.ts';
import { JOB_STATES } from './job-list.ts';

const TIME = { ...TEXT_SCHEMA, format: 'date-time' };
const STATE = enumSchema(...JOB_STATES);

const QUEUE = exactObjectSchema({
  queue: TEXT_SCHEMA,
  owner: nullableSchema(TEXT_SCHEMA),
  waiting: INTEGER_SCHEMA,
  running: INTEGER_SCHEMA,
  completed: INTEGER_SCHEMA,
  failed: INTEGER_SCHEMA,
  cancelled: INTEGER_SCHEMA,
  oldest_waiting: nullableSchema(TIME),
});

const JOB = exactObjectSchema({
  id: TEXT_SCHEMA,
  queue: TEXT_SCHEMA,
  state: STATE,
  priority: INTEGER_SCHEMA,
  group: nullableSchema(TEXT_SCHEMA),
  attempts: INTEGER_SCHEMA,
  created: TIME,
  start_after: TIME,
  started: nullableSchema(TIME),
  ended: nullableSchema(TIME),
  error: nullableSchema(TEXT_SCHEMA),
  result: ANY_VALUE_SCHEMA,
  progress: nullableSchema(
    exactObjectSchema({ share: { type: 'number' }, text: nullableSchema(TEXT_SCHEMA), at: TIME }),
  ),
});

const components = { schemas: { JobQueue: QUEUE, Job: JOB } };
const queueParams = { queue: describeParameter('The name of the queue.', TEXT_SCHEMA) };
const jobParams = { ...queueParams, id: describeParameter('The id of the job.', TEXT_SCHEMA) };
const shared = { tag: 'queues', access: 'admin' } as const;

export const QUEUE_LIST_ROUTE_DESCRIPTION: RouteDescription = {
  ...shared,
  summary: 'Lists the queues of background jobs and how many jobs are in each state.',
  answers: describeDataAnswer(listSchema(schemaRef('JobQueue'))),
  components,
};

export const JOB_LIST_ROUTE_DESCRIPTION: RouteDescription = {
  ...shared,
  summary: 'Lists the jobs of a queue, the newest first; state=failed lists its dead letters.',
  params: queueParams,
  query: {
    state: describeParameter('Only jobs in this state.', STATE),
    limit: describeParameter('How many jobs, at most 1000; 100 by default.', INTEGER_SCHEMA),
    offset: describeParameter('How many jobs to skip.', INTEGER_SCHEMA),
  },
  answers: describeDataAnswer(listSchema(schemaRef('Job'))),
  components,
};

export const JOB_ROUTE_DESCRIPTION: RouteDescription = {
  ...shared,
  summary: 'Answers one job with its progress, its result or its error.',
  params: jobParams,
  answers: describeDataAnswer(schemaRef('Job')),
  components,
};

export const RETRY_ALL_JOBS_ROUTE_DESCRIPTION: RouteDescription = {
  ...shared,
  summary: 'Runs all dead letters of a queue again.',
  params: queueParams,
  answers: describeDataAnswer(exactObjectSchema({ retried: INTEGER_SCHEMA })),
};

export const RETRY_JOB_ROUTE_DESCRIPTION: RouteDescription = {
  ...shared,
  summary: 'Runs a dead letter again.',
  params: jobParams,
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
};

export const CANCEL_JOB_ROUTE_DESCRIPTION: RouteDescription = {
  ...shared,
  summary: 'Cancels a job that waits or runs.',
  params: jobParams,
  answers: NO_CONTENT_ANSWER_DESCRIPTION,
};
