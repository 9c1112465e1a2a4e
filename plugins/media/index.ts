import { definePlugin } from '#kernel';
import { workers } from '../workers/contract.ts';
import { media } from './contract.ts';
import { buildMediaWorkerPoolOptions } from './media-pool-options.ts';
import manifest from './package.json' with { type: 'json' };
import { createMediaService } from './service.ts';

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ workers });
    host.provide(media, createMediaService(used.workers.pool(buildMediaWorkerPoolOptions())));
  },
});
