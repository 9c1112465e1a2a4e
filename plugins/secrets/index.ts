import { definePlugin } from '#kernel';
import { secrets } from './contract.ts';
import { parseMasterKey } from './master-key.ts';
import manifest from './package.json' with { type: 'json' };
import { createSecretStore } from './secret-store.ts';

interface Config {
  SECRETS_ENCRYPTION_KEY: string | undefined;
}

export default definePlugin<Config>({
  manifest,
  register({ config, provide }) {
    provide(secrets, createSecretStore(parseMasterKey(config.SECRETS_ENCRYPTION_KEY)));
  },
});
