import type { JobList } from './job-list.ts';
import type { JobQueues } from './job-queues.ts';
import type { JobStore } from './job-store.ts';

/** Jobs in one statement. */
const BATCH = 1000;

interface Deps {
  readonly queues: Pick<JobQueues, 'retry'>;
  readonly list: Pick<JobList, 'failedIds'>;
  readonly store: Pick<JobStore, 'isInstalled'>;
}

/** Makes all dead letters of a queue run again; those that fail meanwhile are left. Answers how many. */
export async function retryDeadLetters({ queues, list, store }: Deps, queue: string): Promise<number> {
  if (!(await store.isInstalled())) return 0;
  const ids = await list.failedIds(queue);
  let retried = 0;
  for (let at = 0; at < ids.length; at += BATCH) retried += await queues.retry(queue, ids.slice(at, at + BATCH));
  return retried;
}
