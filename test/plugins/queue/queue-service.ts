import type { Host } from '#kernel';
import type { Db } from '../../../plugins/database/contract.ts';
import type { JobQueue, JobQueueOptions, QueueApi, QueuedJob } from '../../../plugins/queue/contract.ts';
import type { FreshDatabase } from '../../support/database.ts';
import { type InProcessService, startService } from '../../support/service.ts';
import { writeTestPluginPackages } from '../../support/test-plugins.ts';

/** The data of jobs in tests. */
export type TestJobData = Record<string, unknown>;

export interface QueueTestService {
  readonly service: InProcessService;
  readonly queue: JobQueue<TestJobData>;
  readonly db: Db;
  readonly api: QueueApi;
  /** The runs of this process so far. */
  readonly runs: QueuedJob<TestJobData>[];
  /** Lines of the log of the queue's owner. */
  readonly log: { readonly level: string; readonly message: unknown }[];
  stop(): Promise<void>;
}

type Overrides = Partial<Omit<JobQueueOptions<TestJobData>, 'log'>>;

/** Starts a service with a plugin that has the queue `numbers`; `run` of the options replaces an empty one. */
export async function startQueueService(options: Overrides = {}, database?: FreshDatabase): Promise<QueueTestService> {
  const runs: QueuedJob<TestJobData>[] = [];
  const log: { level: string; message: unknown }[] = [];
  let parts: Pick<QueueTestService, 'queue' | 'db' | 'api'> | undefined;
  const write = (level: string) => (_about: unknown, message: unknown) => void log.push({ level, message });
  const { composition, remove } = await writeTestPluginPackages([
    {
      name: 'number-cruncher',
      manifest: {
        capabilities: {
          queue: ['numbers'],
          database: { own: ['platform_queue_progress'], schema: 'platform_queue' },
        },
      },
      register(host: Host) {
        const queue = host.queue.define<TestJobData>({
          name: 'numbers',
          retryDelay: 0,
          log: { warn: write('warn'), error: write('error') } as never,
          ...options,
          async run(job) {
            runs.push(job);
            return options.run?.(job);
          },
        });
        host.onStop(() => queue.stop());
        parts = { queue, db: host.db, api: host.queue };
      },
    },
  ]);
  const service = await startService({ plugins: composition.plugins, ...(database ? { database } : {}) });
  return {
    service,
    ...(parts as Pick<QueueTestService, 'queue' | 'db' | 'api'>),
    runs,
    log,
    async stop() {
      await service.stop();
      await remove();
    },
  };
}
