import { commands, definePlugin } from '#kernel';
import {
  authDrivers,
  authProviderVariables,
  linkTokens,
  sealedValues,
  sessionDirectory,
  sessions,
} from '../auth/contract.ts';
import '../database/contract.ts';
import { internalRequests, routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import { secrets } from '../secrets/contract.ts';
import { accountStatements } from './account-statements.ts';
import { createProviderAccounts } from './accounts.ts';
import { backchannelLogoutRoute } from './backchannel-logout-route.ts';
import { createCheckStatements } from './check/check-statements.ts';
import { createCheckCommand } from './check/command.ts';
import { providerSessionsCollection, usedSignInsCollection } from './collections.ts';
import { authProviders, type ProviderProfile, providerDirectory, providerKeys, providerSignIns } from './contract.ts';
import { createFailureLog } from './failure-log.ts';
import { createProviderFinder } from './find-provider.ts';
import { warnOfMissingRoles } from './missing-roles.ts';
import manifest from './package.json' with { type: 'json' };
import { createProviderRegistry } from './provider-registry.ts';
import { createProviderSessions } from './provider-sessions.ts';
import { createProviderTokenStore } from './provider-tokens.ts';
import { type OpenProvider, openProvider } from './providers.ts';
import { providerRoutes } from './routes.ts';
import { withLoadedDrivers } from './safe-mode.ts';
import { CODE_PAGE } from './second-factor.ts';
import { createSignInFlow, type ResolvedUser } from './sign-in-flow.ts';
import { createSingleUse } from './single-use.ts';
import { type ProviderVariables, parseProviderVariables } from './variables.ts';

interface Shared {
  readonly PUBLIC_URL: string;
  readonly SAFE_MODE: boolean;
}

export default definePlugin<Record<never, never>, Shared>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const used = host.use({
      authProviderVariables,
      internalRequests,
      items,
      linkTokens,
      sealedValues,
      sessionDirectory,
      secrets,
      sessions,
    });
    host.define(authProviders);
    host.define(providerKeys);
    for (const one of [providerSessionsCollection, usedSignInsCollection]) host.contribute(systemCollections, one);
    const publicUrl = config.PUBLIC_URL.replace(/\/+$/, '');
    const statements = accountStatements(db);
    const systemCaller = () => host.asSystem('users of sign-in providers are registered and kept up to date');
    const accounts = createProviderAccounts({ db, statements, items: used.items, events, log, systemCaller });
    const tokens = createProviderTokenStore({ db, statements, secrets: used.secrets, log });
    const singleUse = createSingleUse(db);
    const logFailure = createFailureLog(log);
    const declarations = () => host.read(authProviders);

    async function resolve({ rules }: OpenProvider, profile: ProviderProfile): Promise<ResolvedUser> {
      const user = await accounts.resolve(rules, profile);
      await tokens.store(user, profile.tokens);
      return { user, isSecondFactorVerified: rules.trustsSecondFactor };
    }

    const opening = { declarations, publicUrl, tokens, resolve, logFailure };
    const open = (variables: ProviderVariables) =>
      openProvider(variables, { ...opening, providerKeys: () => host.read(providerKeys), useOnce: singleUse.use });
    const registry = createProviderRegistry({
      openProvider: open,
      declarations,
      contribute: (driver) => host.contribute(authDrivers, driver),
      log,
    });

    const { find, assertCallback } = createProviderFinder(registry, declarations);
    const providerSessions = createProviderSessions({
      db,
      directory: used.sessionDirectory,
      systemCaller: () => host.asSystem('sign-in providers end sessions of their users'),
    });
    const hasCodePage = () => used.internalRequests.has('GET', CODE_PAGE);
    const flow = createSignInFlow({
      ...used,
      find,
      resolve,
      publicUrl,
      logFailure,
      events,
      singleUse,
      hasCodePage,
      providerSessions,
    });
    host.provide(providerSignIns, { complete: flow.complete });
    host.contribute(routes, backchannelLogoutRoute({ find, providerSessions, logFailure }));
    host.provide(providerDirectory, {
      list: () => registry.list().map(({ settings, roles }) => ({ settings, roles })),
    });
    for (const route of providerRoutes({ flow, assertCallback })) host.contribute(routes, route);

    const readVariables = () => parseProviderVariables(used.authProviderVariables);
    const checkDeps = { openProvider: open, statements: createCheckStatements(db, statements), readVariables };
    host.contribute(commands, createCheckCommand(checkDeps));

    host.onStart(async () => {
      const { providers, strays } = readVariables();
      if (strays.length > 0)
        log.warn({ settings: strays }, 'settings that begin with AUTH_ belong to no sign-in provider');
      await registry.start(config.SAFE_MODE ? withLoadedDrivers(providers, declarations(), log) : providers);
      await warnOfMissingRoles(registry.list(), { items: used.items, log, systemCaller });
      host.watch(authProviders, () => void registry.update());
    });
    host.onStop(() => registry.close());
  },
});
