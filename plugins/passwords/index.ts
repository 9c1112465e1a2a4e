import { definePlugin } from '#kernel';
import { workers } from '../workers/contract.ts';
import { passwords } from './contract.ts';
import { buildPasswordHashPoolOptions } from './hash-pool-options.ts';
import manifest from './package.json' with { type: 'json' };
import { createPasswordService } from './service.ts';

interface Config {
  HASH_MEMORY_COST: number;
  HASH_TIME_COST: number;
  HASH_PARALLELISM: number;
  HASH_LENGTH: number;
  HASH_PROCESSES: number;
}

export default definePlugin<Config>({
  manifest,
  register({ config, provide, use }) {
    const cost = {
      memory: config.HASH_MEMORY_COST,
      time: config.HASH_TIME_COST,
      parallelism: config.HASH_PARALLELISM,
      length: config.HASH_LENGTH,
    };
    const processes = config.HASH_PROCESSES;
    const pool = use({ workers }).workers.pool(buildPasswordHashPoolOptions(processes, cost));
    provide(passwords, createPasswordService({ pool, processes, cost }));
  },
});
