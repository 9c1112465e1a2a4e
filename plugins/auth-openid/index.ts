import { definePlugin } from '#kernel';
import { oauth2Clients } from '../auth-oauth2/contract.ts';
import { OAUTH_CLIENT_KEYS } from '../auth-oauth2/library.ts';
import { authProviders } from '../auth-providers/contract.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register({ contribute, use }) {
    const { clients } = use({ clients: oauth2Clients });
    contribute(authProviders, {
      name: 'openid',
      kind: 'redirect',
      keys: {
        ...OAUTH_CLIENT_KEYS,
        IDENTIFIER_KEY: { ...OAUTH_CLIENT_KEYS.IDENTIFIER_KEY, default: 'sub' },
        ISSUER_URL: { type: 'string', required: true, about: 'the issuer, or the address of its discovery document' },
        ISSUER_DISCOVERY_MUST_SUCCEED: {
          type: 'boolean',
          default: false,
          about: 'a provider that is down stops the start',
        },
        SCOPE: { type: 'string', default: 'openid profile email', about: 'what is asked for' },
        CLOCK_TOLERANCE: {
          type: 'duration',
          default: 30_000,
          maximum: 600_000,
          about: 'how far the clocks may differ',
        },
      },
      async open(settings) {
        const { openOpenIdDriver } = await import('./driver.ts');
        return openOpenIdDriver(settings, await clients.load());
      },
    });
  },
});
