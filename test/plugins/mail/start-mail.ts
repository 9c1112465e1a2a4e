import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '#kernel';
import { boot, type Kernel } from '#kernel/boot';
import { type MailService, mail } from '../../../plugins/mail/contract.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import type { InMemoryJob, InMemoryQueues } from '../../support/in-memory-queue.ts';
import { createInMemoryQueuePlugin } from '../../support/in-memory-queue-plugin.ts';
import { startMailServer, type TestMailServer } from '../../support/mail-server.ts';
import { silentSettings, type TestPlugin, writeTestPluginPackages } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';

const PRODUCT = [
  'broker',
  'workers',
  'database',
  'cluster',
  'templates',
  'mail',
  'mail-smtp',
  'mail-sendmail',
  'mail-ses',
];

export interface RunningMail {
  readonly kernel: Kernel;
  readonly database: FreshDatabase;
  readonly mail: MailService;
  readonly queues: InMemoryQueues;
  readonly server: TestMailServer;
  /** A plugin that emits nothing, listens to `email.send`, and has the database without tables. */
  readonly host: Host;
  /** EMAIL_TEMPLATES_PATH, at first empty. */
  readonly templates: string;
  readonly log: readonly Record<string, unknown>[];
  /** Waits until the job has ended. */
  ended(id: string): Promise<InMemoryJob>;
  stop(): Promise<void>;
}

interface MailOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly plugins?: readonly TestPlugin[];
  /** A database that an earlier `startMail` used; `stop` does not drop it. */
  readonly database?: FreshDatabase;
  /** The server of an earlier `startMail`; `stop` does not stop it. */
  readonly server?: TestMailServer;
}

/** Starts the plugin `mail` with a queue in memory, an SMTP server of the test and a database. */
export async function startMail({ env = {}, plugins = [], ...shared }: MailOptions = {}): Promise<RunningMail> {
  const database = shared.database ?? (await freshDatabase('mail'));
  const server = shared.server ?? (await startMailServer());
  const templates = await mkdtemp(join(tmpdir(), 'tenon-mail-'));
  const queue = createInMemoryQueuePlugin();
  let used: MailService | undefined;
  let host: Host | undefined;
  const holder: TestPlugin = {
    name: 'holder',
    manifest: {
      uses: { mail: '^1.0.0' },
      capabilities: { database: {}, events: { filter: ['email.send'] } },
    },
    register(own) {
      host = own;
      used = own.use({ mail }).mail;
    },
  };
  const { composition, remove } = await writeTestPluginPackages([queue.plugin, holder, ...plugins]);
  const log: Record<string, unknown>[] = [];
  let kernel: Kernel | undefined;
  const stop = async () => {
    await kernel?.stop();
    await remove();
    await rm(templates, { recursive: true, force: true });
    if (!shared.server) await server.stop();
    if (!shared.database) await database.drop();
  };
  try {
    const folders = PRODUCT.map((name) => new URL(`../../../plugins/${name}/`, import.meta.url));
    const environment = {
      ...silentSettings,
      DB_CONNECTION_STRING: database.url,
      EMAIL_TRANSPORT: 'smtp',
      EMAIL_SMTP_HOST: 'localhost',
      EMAIL_SMTP_PORT: String(server.port),
      EMAIL_SMTP_IGNORE_TLS: 'true',
      EMAIL_TEMPLATES_PATH: templates,
      EMAIL_FROM: 'Shop <shop@example.com>',
      PUBLIC_URL: 'https://shop.example.com/',
      ...env,
    };
    kernel = await boot(
      { plugins: [...folders, ...composition.plugins] },
      { environment, log: (line) => void log.push(JSON.parse(line)) },
    );
    await kernel.migrate();
    await kernel.start();
  } catch (error) {
    await stop();
    throw error;
  }
  const queues = queue.queues();
  const ended = (id: string) =>
    until(() => queues.jobs.find((job) => job.id === id && ['completed', 'failed', 'cancelled'].includes(job.state)));
  const parts = { kernel, database, server, templates, log, queues, ended, stop };
  return { ...parts, mail: used as MailService, host: host as Host };
}
