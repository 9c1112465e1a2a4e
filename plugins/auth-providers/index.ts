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
import { authProviders, type ProviderProfile, providerSignIns } from './contract.ts';
import { createFailureLog } from './failure-log.ts';
import { warnOfMissingRoles } from './missing-roles.ts';
import manifest from './package.json' with { type: 'json' };
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
    host.contribute(systemCollections, usedSignInsCollection);
    const publicUrl = config.PUBLIC_URL.replace(/\/+$/, '');
    const statements = accountStatements(db);
    const systemCaller = () => host.asSystem('users of sign-in providers are registered and kept up to date');
    const accounts = createProviderAccounts({ db, statements, items: used.items, events, log, systemCaller });
    const tokens = createProviderTokenStore({ db, statements, secrets: used.secrets, log });
    const useOnce = createUseOnce(db);
    const declarations = () => host.read(authProviders);
    const open = new Map<string, OpenProvider>();

    async function resolve({ rules }: OpenProvider, profile: ProviderProfile): Promise<AuthenticatedUser> {
      const user = await accounts.resolve(rules, profile);
      await tokens.store(user, profile.tokens);
      return { user };
    }

    function find(ctx: HttpContext, name: string): OpenProvider {
      const provider = open.get(name);
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

    const logFailure = createFailureLog(log);
    const flow = createSignInFlow({ ...used, find, resolve, publicUrl, logFailure });
    host.provide(providerSignIns, { complete: flow.complete });
    for (const route of providerRoutes({ flow, assertCallback })) host.contribute(routes, route);

    host.onStart(async () => {
      const { providers, strays } = parseProviderVariables(used.authProviderVariables);
      if (strays.length > 0)
        log.warn({ settings: strays }, 'settings that begin with AUTH_ belong to no sign-in provider');
      for (const variables of providers) {
        const provider = await openProvider(variables, { declarations, publicUrl, useOnce, tokens, log, resolve });
        open.set(variables.name, provider);
        host.contribute(authDrivers, provider.authDriver);
      }
      await warnOfMissingRoles([...open.values()], { items: used.items, log, systemCaller });
    });
    host.onStop(async () => {
      const closing = [...open.values()].map(async ({ driver }) => driver.close?.());
      open.clear();
      const closed = await Promise.allSettled(closing);
      for (const one of closed) if (one.status === 'rejected') throw one.reason;
    });
  },
});
