import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { boot, type Kernel } from '#kernel/boot';
import { listCorePlugins } from '../../plugins/core-plugins.ts';
import { TEST_SECRET } from '../../test/support/service.ts';
import { silentSettings } from '../../test/support/test-plugins.ts';

/** The message of the script: the time on the clock of this process. */
export interface ClockMessage {
  readonly now: number;
}

export interface FlowProcess {
  readonly kernel: Kernel;
  readonly url: string;
  /** The folder of its files. */
  readonly data: string;
}

/** Boots all core plugins on the database. Flows see the name of the process as `$env.LIFE`. */
export async function bootFlowProcess(databaseUrl: string, life: string): Promise<FlowProcess> {
  const data = await mkdtemp(join(tmpdir(), 'tenon-faults-data-'));
  const kernel = await boot(listCorePlugins(), {
    environment: {
      ...silentSettings,
      LOG_LEVEL: 'error',
      HOST: '127.0.0.1',
      PORT: '0',
      PUBLIC_URL: 'http://127.0.0.1:8055',
      DB_CONNECTION_STRING: databaseUrl,
      DATA_PATH: data,
      EXTENSIONS_PATH: join(data, 'extensions'),
      SECRET: TEST_SECRET,
      ADMIN_EMAIL: 'admin@example.com',
      ADMIN_PASSWORD: 'correct horse battery',
      IMPORT_IP_ALLOW_LIST: '127.0.0.1',
      FLOWS_ENV_ALLOW_LIST: 'LIFE',
      FLOWS_BACKGROUND_MAX_UNFINISHED: '1000000',
      FLOWS_BACKGROUND_MAX_UNFINISHED_PER_FLOW: '1000000',
      LIFE: life,
    },
  });
  await kernel.migrate();
  await kernel.start();
  const { port } = await kernel.listen();
  return { kernel, url: `http://127.0.0.1:${port}`, data };
}

/** Stops the clock of this process: it shows what the script says. */
function freezeClock(now: number): void {
  let current = now;
  const RealDate = Date;
  process.on('message', (message: ClockMessage) => {
    current = message.now;
  });
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [current] : args, self),
    get: (target, key) => (key === 'now' ? () => current : Reflect.get(target, key)),
  });
}

// Run as a program: works until it is killed, or until the script disconnects.
if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [databaseUrl = '', life = '', now] = process.argv.slice(2);
  if (now !== undefined) freezeClock(Number(now));
  await bootFlowProcess(databaseUrl, life);
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
}
