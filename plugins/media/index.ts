import { definePlugin } from '#kernel';
import { media } from './contract.ts';
import manifest from './package.json' with { type: 'json' };
import { createPool } from './pool.ts';
import { createMedia } from './service.ts';

export default definePlugin({
  manifest,
  register(host) {
    const pool = createPool();
    host.provide(media, createMedia(pool));
    host.onStop(() => pool.stop());
  },
});
