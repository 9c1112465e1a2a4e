import { definePlugin } from '#kernel';
import { argonPasswords } from './argon.ts';
import { passwords } from './contract.ts';
import manifest from './package.json' with { type: 'json' };

interface Config {
  HASH_MEMORY_COST: number;
  HASH_TIME_COST: number;
  HASH_PARALLELISM: number;
}

export default definePlugin<Config>({
  manifest,
  register({ config, provide }) {
    provide(
      passwords,
      argonPasswords({
        memory: config.HASH_MEMORY_COST,
        time: config.HASH_TIME_COST,
        parallelism: config.HASH_PARALLELISM,
      }),
    );
  },
});
