import { definePlugin } from '#kernel';
import { operations } from './contract.ts';
import manifest from './package.json' with { type: 'json' };
import { createRegistry } from './registry.ts';

export default definePlugin({
  manifest,
  register(host) {
    host.provide(operations, createRegistry());
  },
});
