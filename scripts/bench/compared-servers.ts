import type { FreshDatabase } from '../../test/support/database.ts';
import type { RunningTestService } from '../../test/support/service.ts';
import type { BenchScenario } from './bench-scenarios.ts';
import { createBenchAliasesAndEditor } from './collection-setup.ts';
import { type ForkedServer, forkServer } from './fork-server.ts';
import { cpuProfileFlags, spawnBenchService } from './service-process.ts';

/** A process under measurement. */
export interface BenchTarget {
  readonly url: URL;
  readonly pid: number;
  /** The `application_name` of its database connections. */
  readonly application: string;
}

/** A server under measurement. */
export interface BenchServer extends BenchTarget {
  readonly name: 'service' | 'ideal';
  /** Headers of a request of this shape. */
  headers(shape: BenchScenario): readonly string[];
}

export interface BenchServers {
  /** The started service, for requests that are not measured. */
  readonly spawned: RunningTestService;
  readonly service: BenchServer;
  readonly ideal: BenchServer;
  stop(): Promise<void>;
}

/**
 * Starts the service and the hand-written server, each a process of its own, over the same database. `profile`: a folder
 * for CPU profiles of both.
 */
export async function startBenchServers(database: FreshDatabase, profile?: string): Promise<BenchServers> {
  const service = await spawnBenchService(database, profile);
  let ideal: ForkedServer | undefined;
  const stop = async () => {
    await ideal?.stop();
    await service.stop();
  };
  try {
    const module = new URL('./ideal-server.ts', import.meta.url);
    ideal = await forkServer(module, { IDEAL_DATABASE_URL: database.url }, cpuProfileFlags(profile));
    const tokens = { admin: service.admin.token, editor: await createBenchAliasesAndEditor(service) };
    return {
      spawned: service,
      service: {
        name: 'service',
        url: new URL(service.url),
        pid: service.pid,
        application: 'tenon',
        headers: ({ as }) => [`Authorization: Bearer ${tokens[as ?? 'admin']}`],
      },
      ideal: { name: 'ideal', url: ideal.url, pid: ideal.pid, application: 'ideal', headers: () => [] },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
