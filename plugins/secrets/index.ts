import { definePlugin } from '#kernel';
import { secrets } from './contract.ts';
import { masterKey } from './key.ts';
import manifest from './package.json' with { type: 'json' };
import { createSecretStore } from './seal.ts';

interface Config {
  SECRETS_ENCRYPTION_KEY: string | undefined;
}

export default definePlugin<Config>({
  manifest,
  register({ config, provide }) {
    provide(secrets, createSecretStore(masterKey(config.SECRETS_ENCRYPTION_KEY)));
  },
});
