import { fail } from '#kernel';
import type { InterProcessBus } from '../cluster/contract.ts';
import type { AddJobOptions } from './contract.ts';
import { JOB_SCHEMA, type JobStore } from './job-store.ts';
import type { SingleQueue } from './single-queue.ts';

/** The bus channel of added and cancelled jobs. */
export const QUEUE_CHANNEL = 'queue';

/** A message on the bus. Without `cancel` a job was added, to run later where `later` is true. */
export interface QueueMessage {
  readonly queue: string;
  readonly cancel?: string;
  readonly later?: boolean;
}

const MAX_DATA_LENGTH = 1024 * 1024;

const START_NOW = `update ${JOB_SCHEMA}.job set start_after = now() where name = $1 and id = any($2::uuid[]) and state = 'retry'`;

/** Changes of jobs, each announced to all processes. */
export interface JobChanges {
  /**
   * Adds a job; null where its key is taken.
   * @throws INVALID_PAYLOAD for data of more than 1 MB.
   */
  add(queue: Pick<SingleQueue, 'options' | 'send'>, data: unknown, options: AddJobOptions): Promise<string | null>;
  /** Cancels a job of any queue of the database; false where it has ended or is unknown. */
  cancel(queue: string, job: string): Promise<boolean>;
  /** Makes dead letters run again. Answers how many. */
  retry(queue: string, jobs: readonly string[]): Promise<number>;
}

interface Deps {
  readonly bus: Pick<InterProcessBus, 'publish'>;
  readonly store: Pick<JobStore, 'open' | 'query'>;
}

export function createJobChanges({ bus, store }: Deps): JobChanges {
  const publish = (message: QueueMessage) => bus.publish(QUEUE_CHANNEL, message);
  return {
    async add(queue, data, options) {
      const { name } = queue.options;
      const { length } = JSON.stringify(data ?? null);
      if (length > MAX_DATA_LENGTH)
        throw fail(
          'INVALID_PAYLOAD',
          `A job of the queue "${name}" has ${length} characters of JSON; at most ${MAX_DATA_LENGTH} fit.`,
        );
      const id = await queue.send(data, options);
      if (id !== null) await publish({ queue: name, later: options.startAfter !== undefined });
      return id;
    },
    async cancel(queue, job) {
      const boss = await store.open();
      const { affected } = (await boss.cancel(queue, job)) as { affected?: number };
      await publish({ queue, cancel: job });
      return (affected ?? 0) > 0;
    },
    async retry(queue, jobs) {
      const boss = await store.open();
      const { affected } = (await boss.retry(queue, [...jobs])) as { affected?: number };
      // pg-boss leaves a dead letter the delay of the retry that it did not have.
      await store.query(START_NOW, [queue, jobs]);
      await publish({ queue });
      return affected ?? 0;
    },
  };
}
