import { definePlugin, fail } from '#kernel';
import { type AuthenticatedUser, authDrivers, authProviderVariables, linkTokens, sessions } from '../auth/contract.ts';
import '../database/contract.ts';
import { type HttpContext, routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import { secrets } from '../secrets/contract.ts';
import { accountStatements } from './account-statements.ts';
import { createProviderAccounts } from './accounts.ts';
import { usedSignInsCollection } from './collections.ts';
import { authProviders, type ProviderProfile, providerDirectory, providerKeys, providerSignIns } from './contract.ts';
import { createFailureLog } from './failure-log.ts';
import { warnOfMissingRoles } from './missing-roles.ts';
import manifest from './package.json' with { type: 'json' };
import { createProviderRegistry } from './provider-registry.ts';
import { createProviderTokenStore } from './provider-tokens.ts';
import { assertContributed, type OpenProvider, openProvider } from './providers.ts';
import { providerRoutes } from './routes.ts';
import { createSignInFlow } from './sign-in-flow.ts';
import { createUseOnce } from './single-use.ts';
import { parseProviderVariables } from './variables.ts';

interface Shared {
  readonly PUBLIC_URL: string;
}

export default definePlugin<Record<never, never>, Shared>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const used = host.use({ authProviderVariables, items, linkTokens, secrets, sessions });
    host.define(authProviders);
    host.define(providerKeys);
    host.contribute(systemCollections, usedSignInsCollection);
    const publicUrl = config.PUBLIC_URL.replace(/\/+$/, '');
    const statements = accountStatements(db);
    const systemCaller = () => host.asSystem('users of sign-in providers are registered and kept up to date');
    const accounts = createProviderAccounts({ db, statements, items: used.items, events, log, systemCaller });
    const tokens = createProviderTokenStore({ db, statements, secrets: used.secrets, log });
    const useOnce = createUseOnce(db);
    const logFailure = createFailureLog(log);
    const declarations = () => host.read(authProviders);

    async function resolve({ rules }: OpenProvider, profile: ProviderProfile): Promise<AuthenticatedUser> {
      const user = await accounts.resolve(rules, profile);
      await tokens.store(user, profile.tokens);
      return { user };
    }

    const registry = createProviderRegistry({
      openProvider: (variables) =>
        openProvider(variables, {
          declarations,
          providerKeys: () => host.read(providerKeys),
          publicUrl,
          useOnce,
          tokens,
          resolve,
          logFailure,
        }),
      declarations,
      contribute: (driver) => host.contribute(authDrivers, driver),
      log,
    });

    function find(ctx: HttpContext, name: string): OpenProvider {
      const provider = registry.get(name);
      if (provider?.declaration.kind !== 'redirect')
        throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
      assertContributed(provider, declarations());
      return provider;
    }

    function assertCallback(ctx: HttpContext, name: string): void {
      const { declaration } = find(ctx, name);
      if (declaration.kind === 'redirect' && declaration.ownCallback)
        throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
    }

    const flow = createSignInFlow({ ...used, find, resolve, publicUrl, logFailure, events });
    host.provide(providerSignIns, { complete: flow.complete });
    host.provide(providerDirectory, {
      list: () => registry.list().map(({ settings, roles }) => ({ settings, roles })),
    });
    for (const route of providerRoutes({ flow, assertCallback })) host.contribute(routes, route);

    host.onStart(async () => {
      const { providers, strays } = parseProviderVariables(used.authProviderVariables);
      if (strays.length > 0)
        log.warn({ settings: strays }, 'settings that begin with AUTH_ belong to no sign-in provider');
      await registry.start(providers);
      await warnOfMissingRoles(registry.list(), { items: used.items, log, systemCaller });
      host.watch(authProviders, () => void registry.update());
    });
    host.onStop(() => registry.close());
  },
});
