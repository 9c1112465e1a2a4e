import { definePlugin } from '#kernel';
import { linkTokens, sessions } from '../auth/contract.ts';
import { authProviders, providerSignIns } from '../auth-providers/contract.ts';
import { createFailureLog } from '../auth-providers/library.ts';
import '../database/contract.ts';
import { routes, routing } from '../http/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import type { SamlName } from './assertion.ts';
import { samlNamesCollection } from './collections.ts';
import { SAML_PROVIDER_KEYS } from './keys.ts';
import { createLogoutCookie } from './logout-cookie.ts';
import manifest from './package.json' with { type: 'json' };
import { type RoutedSamlProvider, samlRoutes } from './routes.ts';
import { createUsersByName } from './users-by-name.ts';

interface Shared {
  readonly PUBLIC_URL: string;
}

export default definePlugin<Record<never, never>, Shared>({
  manifest,
  register(host) {
    const used = host.use({ linkTokens, providerSignIns, routing, sessions });
    host.contribute(systemCollections, samlNamesCollection);
    const publicUrl = host.config.PUBLIC_URL.replace(/\/+$/, '');
    const users = createUsersByName(host.db);
    const logFailure = createFailureLog(host.log);
    const providers = new Map<string, RoutedSamlProvider>();
    const provenNames = new WeakMap<URLSearchParams, SamlName>();

    host.contribute(authProviders, {
      kind: 'redirect',
      name: 'saml',
      keys: SAML_PROVIDER_KEYS,
      ownCallback: { crossSite: true },
      async open(settings) {
        // The libraries for XML are loaded where a provider needs them.
        const [{ createSamlDriver, openSamlProvider }, { createSamlLogout }] = await Promise.all([
          import('./driver.ts'),
          import('./logout.ts'),
        ]);
        const provider = await openSamlProvider(settings);
        providers.set(settings.name, {
          provider,
          cookie: createLogoutCookie(settings.name, settings.urlOf('logout'), used.linkTokens),
          logout: createSamlLogout({ sessions: used.sessions, users, publicUrl, logFailure }),
        });
        const driver = createSamlDriver(provider, async (name, identifier, parameters) => {
          provenNames.set(parameters, name);
          await users.remember(settings.name, name.nameID, identifier);
        });
        return { ...driver, close: () => void providers.delete(settings.name) };
      },
    });
    const signIns = used.providerSignIns;
    for (const route of samlRoutes({ signIns, routing: used.routing, providers, provenNames }))
      host.contribute(routes, route);
  },
});
