import { type ContributionTo, definePlugin } from '#kernel';
import type { doctorChecks } from '../doctor/contract.ts';
import type { sharedSettings } from '../processes/contract.ts';
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
    const key = parseMasterKey(config.SECRETS_ENCRYPTION_KEY);
    provide(secrets, createSecretCipher(key));
    contribute<ContributionTo<typeof doctorChecks>>(
      'doctor.checks',
      createSecretsDoctorCheck(config.SECRETS_ENCRYPTION_KEY),
    );
    contribute<ContributionTo<typeof sharedSettings>>('processes.settings', {
      name: 'SECRETS_ENCRYPTION_KEY',
      values: () => (key ? [key.id] : []),
      secret: true,
      consequence: 'what one process encrypts counts as unset in the other',
      stopsStart: true,
    });
  },
});
