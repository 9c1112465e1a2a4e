import { setTimeout as pause } from 'node:timers/promises';
import type { Host } from '#kernel';
import { boot, type Kernel } from '#kernel/boot';
import type { JobQueue } from '../../plugins/queue/contract.ts';
import { silentSettings, writeTestPluginPackages } from '../../test/support/test-plugins.ts';

/** The data of a job: its number, and milliseconds before and after its effect. */
export interface FaultTestJob {
  readonly number: number;
  readonly before: number;
  readonly after: number;
}

export interface JobProcess {
  readonly kernel: Kernel;
  readonly queue: JobQueue<FaultTestJob>;
  stop(): Promise<void>;
}

const PLUGINS = ['broker', 'workers', 'database', 'cluster', 'schedule', 'http', 'queue'];

/** Boots what the queue needs, with a queue whose jobs write one row each into the table `effects`. */
export async function bootJobProcess(databaseUrl: string, life: string): Promise<JobProcess> {
  let queue: JobQueue<FaultTestJob> | undefined;
  const { composition, remove } = await writeTestPluginPackages([
    {
      name: 'effects',
      manifest: { capabilities: { queue: ['effects'], database: { sql: 'writes what a job did' }, log: true } },
      register(host: Host) {
        queue = host.queue.define<FaultTestJob>({
          name: 'effects',
          retries: 20,
          retryDelay: 0,
          concurrency: 4,
          keepCompleted: 86_400,
          log: host.log,
          async run({ id, data, attempt }) {
            await pause(data.before);
            await host.db.query('insert into effects (job, number, attempt, life) values ($1, $2, $3, $4)', [
              id,
              data.number,
              attempt,
              life,
            ]);
            await pause(data.after);
          },
        });
      },
    },
  ]);
  const folders = PLUGINS.map((name) => new URL(`../../plugins/${name}/`, import.meta.url));
  const kernel = await boot(
    { plugins: [...folders, ...composition.plugins] },
    { environment: { ...silentSettings, LOG_LEVEL: 'error', DB_CONNECTION_STRING: databaseUrl } },
  );
  await kernel.migrate();
  await kernel.start();
  return {
    kernel,
    queue: queue as JobQueue<FaultTestJob>,
    async stop() {
      await kernel.stop();
      await remove();
    },
  };
}

// Run as a program: takes jobs until it is killed.
if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [databaseUrl = '', life = ''] = process.argv.slice(2);
  const { kernel } = await bootJobProcess(databaseUrl, life);
  await kernel.listen();
  process.send?.('ready');
}
