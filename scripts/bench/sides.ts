import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { FreshDatabase } from '../../test/support/database.ts';
import { spawnService } from '../../test/support/service.ts';
import { prepareModel } from './model.ts';
import type { Shape } from './shapes.ts';

/** A server under measurement. */
export interface Side {
  readonly name: 'service' | 'ideal';
  readonly url: URL;
  readonly pid: number;
  /** What its database connections call themselves. */
  readonly application: string;
  /** Headers of a request of this shape. */
  headers(shape: Shape): readonly string[];
}

export interface Sides {
  readonly service: Side;
  readonly ideal: Side;
  stop(): Promise<void>;
}

/**
 * Starts the service and the hand-written server, each a process of its own, over the same database. `profile`: a folder
 * for CPU profiles of both.
 */
export async function startSides(database: FreshDatabase, profile?: string): Promise<Sides> {
  const profiling = profile && `--cpu-prof --cpu-prof-dir=${profile}`;
  // The ideal server writes no log, so neither does the service but for warnings.
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
      ...(profiling ? { NODE_OPTIONS: profiling } : {}),
    },
  });
  const ideal = fork(new URL('./ideal.ts', import.meta.url), {
    env: { PATH: process.env.PATH, IDEAL_DATABASE_URL: database.url },
    execArgv: profiling ? profiling.split(' ') : [],
  });
  const stop = async () => {
    ideal.kill();
    if (ideal.exitCode === null && ideal.signalCode === null) await once(ideal, 'exit');
    await service.stop();
    // What it said at warn or above concerns whoever measures.
    const log = service.output().trim();
    if (log !== '') console.error(`\nthe service's log:\n${log.slice(0, 4000)}`);
  };
  try {
    const [port] = (await once(ideal, 'message')) as [number];
    const tokens = { admin: service.admin.token, editor: await prepareModel(service) };
    return {
      service: {
        name: 'service',
        url: new URL(service.url),
        pid: service.pid,
        application: 'tenon',
        headers: ({ as }) => [`Authorization: Bearer ${tokens[as ?? 'admin']}`],
      },
      ideal: {
        name: 'ideal',
        url: new URL(`http://127.0.0.1:${port}`),
        pid: ideal.pid as number,
        application: 'ideal',
        headers: () => [],
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
