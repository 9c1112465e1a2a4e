import { fail } from '#kernel';
import { isUuid } from '../database/library.ts';
import type { HttpContext, Route } from '../http/contract.ts';
import { parsedQueryStringOf, sendData } from '../http/library.ts';
import type { JobState } from './contract.ts';
import { JOB_STATES, type JobList, type ListedJob } from './job-list.ts';
import type { JobQueues } from './job-queues.ts';
import type { JobStore } from './job-store.ts';
import { listQueues } from './queue-list.ts';
import { retryDeadLetters } from './retry-dead-letters.ts';
import {
  CANCEL_JOB_ROUTE_DESCRIPTION,
  JOB_LIST_ROUTE_DESCRIPTION,
  JOB_ROUTE_DESCRIPTION,
  QUEUE_LIST_ROUTE_DESCRIPTION,
  RETRY_ALL_JOBS_ROUTE_DESCRIPTION,
  RETRY_JOB_ROUTE_DESCRIPTION,
} from './route-descriptions.ts';

interface Deps {
  readonly queues: Pick<JobQueues, 'list' | 'cancel' | 'retry'>;
  readonly list: Pick<JobList, 'counts' | 'jobs' | 'failedIds'>;
  readonly store: Pick<JobStore, 'isInstalled'>;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

/** The routes by which admins see queues and jobs, retry dead letters, and cancel. */
export function createQueueRoutes({ queues, list, store }: Deps): readonly Route[] {
  async function findJob(ctx: HttpContext): Promise<ListedJob> {
    const { queue = '', id = '' } = ctx.params;
    const found = isUuid(id) && (await store.isInstalled()) ? await list.jobs({ queue, id, limit: 1, offset: 0 }) : [];
    if (!found[0]) throw fail('FORBIDDEN', `The queue "${queue}" has no job ${id}.`);
    return found[0];
  }

  async function listJobs(ctx: HttpContext): Promise<readonly ListedJob[]> {
    const { state, limit, offset } = parseListQuery(parsedQueryStringOf(ctx));
    if (!(await store.isInstalled())) return [];
    return list.jobs({ queue: ctx.params.queue ?? '', ...(state ? { state } : {}), limit, offset });
  }

  async function retryJob(ctx: HttpContext): Promise<void> {
    const { queue, id, state } = await findJob(ctx);
    if (state !== 'failed') throw fail('INVALID_PAYLOAD', `The job is ${state}; only failed jobs are retried.`);
    await queues.retry(queue, [id]);
    sendData(ctx, undefined);
  }

  async function retryAll(ctx: HttpContext): Promise<void> {
    sendData(ctx, { retried: await retryDeadLetters({ queues, list, store }, ctx.params.queue ?? '') });
  }

  async function cancelJob(ctx: HttpContext): Promise<void> {
    const { queue, id, state } = await findJob(ctx);
    if (!(await queues.cancel(queue, id))) throw fail('INVALID_PAYLOAD', `The job has ended already: it is ${state}.`);
    sendData(ctx, undefined);
  }

  const routes: readonly Route[] = [
    {
      method: 'GET',
      path: '/queues',
      description: QUEUE_LIST_ROUTE_DESCRIPTION,
      handle: async (ctx) => sendData(ctx, await listQueues({ queues, list, store })),
    },
    {
      method: 'GET',
      path: '/queues/:queue/jobs',
      description: JOB_LIST_ROUTE_DESCRIPTION,
      handle: async (ctx) => sendData(ctx, await listJobs(ctx)),
    },
    {
      method: 'GET',
      path: '/queues/:queue/jobs/:id',
      description: JOB_ROUTE_DESCRIPTION,
      handle: async (ctx) => sendData(ctx, await findJob(ctx)),
    },
    { method: 'POST', path: '/queues/:queue/retry', description: RETRY_ALL_JOBS_ROUTE_DESCRIPTION, handle: retryAll },
    {
      method: 'POST',
      path: '/queues/:queue/jobs/:id/retry',
      description: RETRY_JOB_ROUTE_DESCRIPTION,
      handle: retryJob,
    },
    {
      method: 'POST',
      path: '/queues/:queue/jobs/:id/cancel',
      description: CANCEL_JOB_ROUTE_DESCRIPTION,
      handle: cancelJob,
    },
  ];
  return routes.map((route) => ({
    ...route,
    handle(ctx) {
      if (!ctx.state.caller.admin) throw fail('FORBIDDEN', 'only admins may see and change background jobs');
      return route.handle(ctx);
    },
  }));
}

function parseListQuery(query: Readonly<Record<string, unknown>>) {
  const { state } = query;
  if (state !== undefined && !JOB_STATES.includes(state as JobState))
    throw fail('INVALID_QUERY', `"state" is one of ${JOB_STATES.join(', ')}.`);
  return {
    state: state as JobState | undefined,
    limit: parseCount('limit', query.limit, DEFAULT_LIMIT, 1, MAX_LIMIT),
    offset: parseCount('offset', query.offset, 0, 0, Number.MAX_SAFE_INTEGER),
  };
}

function parseCount(name: string, value: unknown, byDefault: number, min: number, max: number): number {
  if (value === undefined) return byDefault;
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max))
    throw fail('INVALID_QUERY', `"${name}" is a whole number from ${min} to ${max}.`);
  return number;
}
