import { definePlugin } from '#kernel';
import { secrets } from './contract.ts';
import { parseMasterKey } from './master-key.ts';
import manifest from './package.json' with { type: 'json' };
import { createSecretCipher } from './secret-cipher.ts';

interface Config {
  SECRETS_ENCRYPTION_KEY: string | undefined;
}

export default definePlugin<Config>({
  manifest,
  register({ config, provide }) {
    provide(secrets, createSecretCipher(parseMasterKey(config.SECRETS_ENCRYPTION_KEY)));
  },
});
