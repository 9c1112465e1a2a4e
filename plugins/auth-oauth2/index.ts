import { definePlugin } from '#kernel';
import { authProviders } from '../auth-providers/contract.ts';
import { OAUTH_CLIENT_KEYS } from './client-keys.ts';
import { oauth2Clients } from './contract.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register({ contribute, provide }) {
    provide(oauth2Clients, { load: async () => (await import('./client.ts')).oauth2Client });
    contribute(authProviders, {
      name: 'oauth2',
      kind: 'redirect',
      keys: {
        ...OAUTH_CLIENT_KEYS,
        AUTHORIZE_URL: { type: 'string', required: true, about: 'where browsers are sent to sign in' },
        ACCESS_URL: { type: 'string', required: true, about: 'where a code is exchanged for tokens' },
        PROFILE_URL: { type: 'string', required: true, about: 'what describes the user of an access token' },
        SCOPE: { type: 'string', default: 'email', about: 'what is asked for' },
        ISSUER_URL: {
          type: 'string',
          about: 'the issuer that the provider names in its callback (RFC 9207), to compare',
        },
      },
      async open(settings) {
        const { openOAuth2Driver } = await import('./driver.ts');
        return openOAuth2Driver(settings);
      },
    });
  },
});
