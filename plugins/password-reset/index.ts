import { definePlugin } from '#kernel';
import { linkTokens } from '../auth/contract.ts';
import { createUserLinks } from '../auth/library.ts';
import '../database/contract.ts';
import type { ContributedGraphqlField } from '../graphql/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { mail } from '../mail/contract.ts';
import { createLinkPages } from '../mail/library.ts';
import { systemCollections } from '../schema/contract.ts';
import { passwordPolicy } from '../users/contract.ts';
import { passwordRequestsCollection } from './collections.ts';
import { passwordResetGraphqlFields } from './graphql.ts';
import manifest from './package.json' with { type: 'json' };
import { createRequestReset } from './request-reset.ts';
import { createResetPassword } from './reset-password.ts';
import { type PasswordResetRequests, passwordResetRoutes } from './routes.ts';
import { type PasswordOwner, passwordResetStatements } from './statements.ts';

/** One day, in milliseconds. */
const LINK_LIFETIME = 86_400_000;

interface Config {
  PASSWORD_RESET_URL_ALLOW_LIST: readonly string[];
}

interface Shared {
  readonly AUTH_DISABLE_DEFAULT: boolean;
  readonly LOGIN_STALL_TIME: number;
  readonly PUBLIC_URL: string;
}

export default definePlugin<Config, Shared>({
  manifest,
  register(host) {
    const { config, db, log } = host;
    const used = host.use({ items, linkTokens, mail, policy: passwordPolicy });
    host.contribute(systemCollections, passwordRequestsCollection);
    const pages = createLinkPages({
      publicUrl: config.PUBLIC_URL,
      path: '/admin/reset-password',
      allowList: {
        setting: 'PASSWORD_RESET_URL_ALLOW_LIST',
        urls: config.PASSWORD_RESET_URL_ALLOW_LIST,
        field: 'reset_url',
      },
    });
    const links = createUserLinks<PasswordOwner>({
      tokens: used.linkTokens,
      purpose: 'password-reset',
      lifetime: LINK_LIFETIME,
      valuesOf: ({ email, password, provider }) => [email, password, provider],
    });
    const statements = passwordResetStatements(db);
    const deps = { db, statements, links, stallTime: config.LOGIN_STALL_TIME };
    const systemCaller = () => host.asSystem('the holder of a link sets a new password');
    const requests: PasswordResetRequests = {
      request: createRequestReset({ ...deps, mail: used.mail, pages, log }),
      reset: createResetPassword({ ...deps, items: used.items, policy: used.policy, systemCaller }),
    };
    // Where users do not sign in by password, they need no new one.
    if (config.AUTH_DISABLE_DEFAULT) return;
    for (const route of passwordResetRoutes(requests)) host.contribute(routes, route);
    for (const field of passwordResetGraphqlFields(requests))
      host.contribute<ContributedGraphqlField>('graphql.fields', field);
  },
});
