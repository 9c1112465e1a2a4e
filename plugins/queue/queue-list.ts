import type { JobList, QueueCounts } from './job-list.ts';
import type { JobQueues } from './job-queues.ts';
import type { JobStore } from './job-store.ts';

/** A queue of this process or of the database; `owner` is null for a queue that no loaded plugin has. */
export interface ListedQueue extends QueueCounts {
  readonly owner: string | null;
}

interface Deps {
  readonly queues: Pick<JobQueues, 'list'>;
  readonly list: Pick<JobList, 'counts'>;
  readonly store: Pick<JobStore, 'isInstalled'>;
}

const NO_JOBS = { waiting: 0, running: 0, completed: 0, failed: 0, cancelled: 0, oldest_waiting: null };

/** All queues by name, with their numbers of jobs. */
export async function listQueues({ queues, list, store }: Deps): Promise<readonly ListedQueue[]> {
  const owners = new Map(queues.list().map(({ owner, options }) => [options.name, owner]));
  const counted = (await store.isInstalled()) ? await list.counts() : [];
  const names = new Set([...owners.keys(), ...counted.map(({ queue }) => queue)]);
  return [...names].sort().map((queue) => ({
    queue,
    owner: owners.get(queue) ?? null,
    ...NO_JOBS,
    ...counted.find((one) => one.queue === queue),
  }));
}
