import { definePlugin, middleware } from '#kernel';
import { authProviderVariables, ownTokenPaths } from '../auth/contract.ts';
import { providerDirectory, providerKeys } from '../auth-providers/contract.ts';
import { migrations } from '../database/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import * as collections from './collections.ts';
import { createScimErrorMiddleware, SCIM_PATH } from './error-middleware.ts';
import { createGroupResource } from './groups/group-resource.ts';
import { groupStatements } from './groups/group-statements.ts';
import { applyMapping } from './groups/groups.ts';
import { createModificationTrigger } from './migrations.ts';
import manifest from './package.json' with { type: 'json' };
import { isScimConfigured, scimProviderKeys } from './provider-keys.ts';
import { openScimProviders, type ScimProviders } from './providers.ts';
import { bearerTokenOf, createRequests } from './requests.ts';
import { createGroupHandlers, createUserHandlers } from './resource-handlers.ts';
import { scimRoutes } from './routes.ts';
import { createUserResource } from './users/user-resource.ts';
import { userStatements } from './users/user-statements.ts';

interface Shared {
  readonly PUBLIC_URL: string;
}

export default definePlugin<Record<never, never>, Shared>({
  manifest,
  register(host) {
    const { config, db, log } = host;
    const used = host.use({ authProviderVariables, items, providerDirectory });
    for (const one of [
      collections.scimUsersCollection,
      collections.scimGroupsCollection,
      collections.scimMembersCollection,
    ])
      host.contribute(systemCollections, one);
    host.contribute(migrations, createModificationTrigger(db));
    host.contribute(providerKeys, scimProviderKeys);
    if (!isScimConfigured(used.authProviderVariables.variables)) return;

    let providers: ScimProviders | undefined;
    host.onStart(async () => {
      providers = await openScimProviders(used.providerDirectory.list());
    });
    const [usersWithGroups, usersAlone] = [createUserResource(db, true), createUserResource(db, false)];
    const groups = createGroupResource(db);
    const groupDeps = { db, items: used.items, statements: groupStatements(db, groups.version), resource: groups };
    const requests = createRequests({
      publicUrl: config.PUBLIC_URL,
      callerOf: (client) => host.asSystem('identity providers manage their users and groups by SCIM', client),
    });
    host.events.onAction('server.start', async () => {
      for (const provider of providers?.all ?? []) {
        if (!provider.hasGroups) continue;
        const { name } = provider;
        try {
          const users = await applyMapping(groupDeps, requests.ofProvider(provider));
          if (users > 0)
            log.warn(
              { provider: name, users },
              'admins keep their roles, and admin roles are not given, whatever the groups',
            );
        } catch (error) {
          log.error({ err: error, provider: name }, 'the roles of groups of SCIM are not up to date');
        }
      }
    });
    const all = scimRoutes({
      open: async (ctx) => requests.ofContext(ctx, await (providers as ScimProviders).ofToken(bearerTokenOf(ctx))),
      users: createUserHandlers(
        { db, items: used.items, statements: userStatements(db, usersAlone.version) },
        ({ provider }) => (provider.hasGroups ? usersWithGroups : usersAlone),
      ),
      groups: createGroupHandlers(groupDeps),
    });
    for (const route of all) host.contribute(routes, route);
    host.contribute(middleware, createScimErrorMiddleware(log));
    host.contribute(ownTokenPaths, SCIM_PATH);
  },
});
