import { type ContributionTo, definePlugin } from '#kernel';
import type { doctorChecks } from '../doctor/contract.ts';
import { secrets } from './contract.ts';
import { createSecretsDoctorCheck } from './doctor-check.ts';
import { parseMasterKey } from './master-key.ts';
import manifest from './package.json' with { type: 'json' };
import { createSecretCipher } from './secret-cipher.ts';

interface Config {
  SECRETS_ENCRYPTION_KEY: string | undefined;
}

export default definePlugin<Config>({
  manifest,
  register({ config, contribute, provide }) {
    contribute<ContributionTo<typeof doctorChecks>>(
      'doctor.checks',
      createSecretsDoctorCheck(config.SECRETS_ENCRYPTION_KEY),
    );
    provide(secrets, createSecretCipher(parseMasterKey(config.SECRETS_ENCRYPTION_KEY)));
  },
});
