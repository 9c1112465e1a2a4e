import { definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { migrations } from '../database/contract.ts';
import type { ContributedGraphqlField } from '../graphql/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { collectionRoutes } from '../items/library.ts';
import { passwords } from '../passwords/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import { settings } from '../settings/contract.ts';
import { createAccountDefaultsMigration } from './account-defaults.ts';
import { usersCollection } from './collections.ts';
import { passwordPolicy } from './contract.ts';
import { createFirstAdmin } from './first-admin.ts';
import { createUserGraphqlFields } from './graphql.ts';
import { createIdentifiersByProviderMigration } from './identifiers-by-provider.ts';
import manifest from './package.json' with { type: 'json' };
import { printFirstAdminPassword } from './print-first-admin.ts';
import { meRoutes } from './routes/me.ts';
import { ownRightsRoutes } from './routes/own-rights.ts';
import { permissionRoutes } from './routes/permissions.ts';
import { createPasswordPolicy, createPasswordPolicyService } from './rules/password-policy.ts';
import { registerPermissionWriteChecks } from './rules/permission-write-checks.ts';
import { registerRoleWriteChecks } from './rules/role-write-checks.ts';
import { registerUserWriteChecks } from './rules/user-write-checks.ts';
import { userStatements } from './statements.ts';

interface Config {
  ADMIN_EMAIL: string;
  ADMIN_PASSWORD: string | undefined;
  ADMIN_TOKEN: string | undefined;
}

export default definePlugin<Config>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const used = host.use({ items, access, passwords, settings });
    host.contribute(systemCollections, usersCollection);
    host.contribute(migrations, createAccountDefaultsMigration(db));
    host.contribute(migrations, createIdentifiersByProviderMigration(db));
    const statements = userStatements(db);
    const checkPassword = createPasswordPolicy(used.settings, events);
    host.provide(passwordPolicy, createPasswordPolicyService(checkPassword));
    for (const rules of [registerUserWriteChecks, registerRoleWriteChecks, registerPermissionWriteChecks])
      rules({ db, statements, access: used.access, checkPassword }, events);
    for (const route of [
      ...meRoutes({ items: used.items, db, trackPage: statements.TRACK_PAGE }),
      ...collectionRoutes(used.items, '/users', 'platform_users'),
      ...collectionRoutes(used.items, '/roles', 'platform_roles'),
      ...ownRightsRoutes(used),
      ...permissionRoutes(used.items, used.access),
    ]) {
      host.contribute(routes, route);
    }
    for (const field of createUserGraphqlFields(used.items, used.access))
      host.contribute<ContributedGraphqlField>('graphql.fields', field);
    host.onMigrate(async () => {
      const admin = { email: config.ADMIN_EMAIL, password: config.ADMIN_PASSWORD, token: config.ADMIN_TOKEN };
      const isCreated = await createFirstAdmin({
        db,
        statements,
        passwords: used.passwords,
        checkPassword,
        admin,
        show: printFirstAdminPassword,
      });
      if (isCreated) log.info({ email: admin.email }, 'first admin created');
    });
  },
});
