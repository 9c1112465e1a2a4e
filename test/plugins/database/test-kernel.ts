import type { Host } from '#kernel';
import { boot, type Kernel } from '#kernel/boot';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { silentSettings, type TestPlugin, writeTestPluginPackages } from '../../support/test-plugins.ts';

export interface TestKernel {
  readonly kernel: Kernel;
  readonly database: FreshDatabase;
  /** Parsed log lines so far. */
  readonly log: readonly Record<string, unknown>[];
  stop(): Promise<void>;
}

export interface TestKernelOptions {
  readonly database?: FreshDatabase;
  readonly environment?: Record<string, string>;
  /** The last phase to run. Default: start. */
  readonly until?: 'boot' | 'start';
}

const folders = ['broker', 'database', 'cluster'].map((name) => new URL(`../../../plugins/${name}/`, import.meta.url));

/** Boots the plugins broker, database and cluster with the sketched plugins, on a new database. */
export async function startTestKernel(
  sketches: readonly TestPlugin[],
  options: TestKernelOptions = {},
): Promise<TestKernel> {
  const database = options.database ?? (await freshDatabase('ground'));
  const { composition, remove } = await writeTestPluginPackages(sketches);
  const log: Record<string, unknown>[] = [];
  const environment = {
    ...silentSettings,
    LOG_LEVEL: 'debug',
    DB_CONNECTION_STRING: database.url,
    ...options.environment,
  };
  let kernel: Kernel | undefined;
  const stop = async () => {
    await kernel?.stop();
    await remove();
    if (!options.database) await database.drop();
  };
  try {
    kernel = await boot(
      { ...composition, plugins: [...folders, ...composition.plugins] },
      { environment, log: (line) => void log.push(JSON.parse(line)) },
    );
    if (options.until !== 'boot') {
      await kernel.migrate();
      await kernel.start();
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { kernel, database, log, stop };
}

/** A plugin with this database grant; `receive` gets its host. */
export function createPluginWithDatabaseGrant(
  grant: object,
  receive: (host: Host) => void,
  more: { name?: string; uses?: Record<string, string>; contributes?: Record<string, object> } = {},
): TestPlugin {
  const { name = 'holder', ...manifest } = more;
  return { name, manifest: { ...manifest, capabilities: { database: grant } }, register: receive };
}

/** Collects all elements of a stream. */
export async function collectAll<T>(stream: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const one of stream) all.push(one);
  return all;
}
