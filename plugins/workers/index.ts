import { definePlugin } from '#kernel';
import { workers } from './contract.ts';
import manifest from './package.json' with { type: 'json' };
import { createWorkerPoolService } from './workers.ts';

export default definePlugin({
  manifest,
  register(host) {
    const { pool, stop } = createWorkerPoolService();
    host.provide(workers, { pool });
    host.onStop(stop);
  },
});
