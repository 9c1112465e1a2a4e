import type { FreshDatabase } from '../../test/support/database.ts';
import { type SpawnedService, spawnService } from '../../test/support/service.ts';

/** Node's options that make it write a CPU profile into a folder as it ends. */
export const cpuProfileFlags = (folder: string | undefined): readonly string[] =>
  folder ? ['--cpu-prof', `--cpu-prof-dir=${folder}`] : [];

/** Starts the service with the settings for measurements, in a process of its own. `profile`: a folder for its CPU profile. `more`: other settings. */
export async function spawnBenchService(
  database: FreshDatabase,
  profile?: string,
  more: Readonly<Record<string, string>> = {},
): Promise<SpawnedService> {
  // The servers beside it write no log, so neither does the service but for warnings.
  const service = await spawnService({
    database,
    env: {
      LOG_LEVEL: 'warn',
      ACCESS_TOKEN_TTL: '1d',
      DB_POOL_MAX: '10',
      DB_STATEMENT_TIMEOUT: '60s',
      // A thousand rows of 1 KB.
      MAX_PAYLOAD_SIZE: '10mb',
      // With 32 connections on a few processors many a read is slow.
      QUERY_SLOW_MS: '0',
      ...more,
      ...(profile ? { NODE_OPTIONS: cpuProfileFlags(profile).join(' ') } : {}),
    },
  });
  return {
    ...service,
    async stop() {
      await service.stop();
      // Lines at warn and above may explain a figure.
      const log = service.output().trim();
      if (log !== '') console.error(`\nthe service's log:\n${log.slice(0, 4000)}`);
    },
  };
}
