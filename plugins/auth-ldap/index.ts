import { definePlugin } from '#kernel';
import { authProviders } from '../auth-providers/contract.ts';
import { LDAP_CREDENTIALS_SCHEMA, LDAP_PROVIDER_KEYS } from './keys.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register({ contribute, log }) {
    contribute(authProviders, {
      kind: 'credentials',
      name: 'ldap',
      keys: LDAP_PROVIDER_KEYS,
      schema: LDAP_CREDENTIALS_SCHEMA,
      identifiers: ['identifier', 'email'],
      async open(provider) {
        // The library is loaded where a provider needs it.
        const [{ createLdapDriver }, { parseLdapDirectory }] = await Promise.all([
          import('./driver.ts'),
          import('./settings.ts'),
        ]);
        const directory = parseLdapDirectory(provider);
        if (!directory.isEncrypted)
          log.warn(
            { provider: provider.name },
            'passwords are sent to the directory in clear text: use ldaps:// or CLIENT_STARTTLS',
          );
        return createLdapDriver(directory);
      },
    });
  },
});
