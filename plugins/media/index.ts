import { definePlugin } from '#kernel';
import { workers } from '../workers/contract.ts';
import { media } from './contract.ts';
import manifest from './package.json' with { type: 'json' };
import { buildMediaWorkerPoolOptions } from './processes.ts';
import { createMediaService } from './service.ts';

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ workers });
    host.provide(media, createMediaService(used.workers.pool(buildMediaWorkerPoolOptions())));
  },
});
