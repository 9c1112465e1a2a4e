import type { WorkerPool, WorkerPoolService } from './contract.ts';
import { createWorkerPool } from './pool.ts';

/** Creates the service `workers`; `stop` stops all its pools. */
export function createWorkerPoolService(): WorkerPoolService & { stop(): Promise<void> } {
  const pools = new Set<WorkerPool>();
  return {
    pool(options) {
      const pool = createWorkerPool(options);
      const one: WorkerPool = {
        run: pool.run,
        stop() {
          pools.delete(one);
          return pool.stop();
        },
      };
      pools.add(one);
      return one;
    },
    async stop() {
      await Promise.all([...pools].map((pool) => pool.stop()));
    },
  };
}
