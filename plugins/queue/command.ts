import type { KernelCommand } from '#kernel';
import type { JobList } from './job-list.ts';
import type { JobQueues } from './job-queues.ts';
import type { JobStore } from './job-store.ts';
import { listQueues } from './queue-list.ts';
import { retryDeadLetters } from './retry-dead-letters.ts';

const USAGE = 'usage: queues list | queues failed <queue> | queues retry <queue>';

/** Dead letters that `queues failed` prints. */
const MAX_PRINTED = 1000;

interface Deps {
  readonly queues: Pick<JobQueues, 'list' | 'retry'>;
  readonly list: JobList;
  readonly store: JobStore;
}

const print = (line: string) => void process.stdout.write(`${line}\n`);

/** `queues …`: lists queues and dead letters, and retries dead letters. The jobs themselves run in the service. */
export const createQueuesCommand = ({ queues, list, store }: Deps): KernelCommand => ({
  name: 'queues',
  about: 'list | failed <queue> | retry <queue>: background jobs and their dead letters',
  needs: 'start',
  check([verb, ...queue]) {
    if (verb === 'list' && queue.length === 0) return undefined;
    if ((verb === 'failed' || verb === 'retry') && queue.length === 1) return undefined;
    process.stderr.write(`${USAGE}\n`);
    return 1;
  },
  async run([verb, queue = '']) {
    if (verb === 'list') {
      for (const { queue: name, waiting, running, failed } of await listQueues({ queues, list, store }))
        print(`${name}: ${waiting} waiting, ${running} running, ${failed} failed`);
      return 0;
    }
    if (verb === 'retry') {
      print(`${await retryDeadLetters({ queues, list, store }, queue)} jobs run again`);
      return 0;
    }
    if (!(await store.isInstalled())) return 0;
    for (const job of await list.jobs({ queue, state: 'failed', limit: MAX_PRINTED, offset: 0 }))
      print(`${job.id} ${job.ended} after ${job.attempts} runs: ${job.error}`);
    return 0;
  },
});
