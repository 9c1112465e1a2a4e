import { definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { linkTokens } from '../auth/contract.ts';
import { createUserLinks } from '../auth/library.ts';
import '../database/contract.ts';
import type { ContributedGraphqlField } from '../graphql/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { mail } from '../mail/contract.ts';
import { createLinkPages } from '../mail/library.ts';
import { schema } from '../schema/contract.ts';
import { passwordPolicy } from '../users/contract.ts';
import { createAcceptInvitation } from './accept-invitation.ts';
import { invitationGraphqlFields } from './graphql.ts';
import { createInviteUsers } from './invite-users.ts';
import manifest from './package.json' with { type: 'json' };
import { type InvitationRequests, invitationRoutes } from './routes.ts';
import { type InvitedUser, invitationStatements } from './statements.ts';

interface Config {
  USER_INVITE_URL_ALLOW_LIST: readonly string[];
  USER_INVITE_TOKEN_TTL: number;
}

interface Shared {
  readonly LOGIN_STALL_TIME: number;
  readonly PUBLIC_URL: string;
}

export default definePlugin<Config, Shared>({
  manifest,
  register(host) {
    const { config, db } = host;
    const used = host.use({ access, items, linkTokens, mail, policy: passwordPolicy, schema });
    const links = createUserLinks<InvitedUser>({
      tokens: used.linkTokens,
      purpose: 'invitation',
      lifetime: config.USER_INVITE_TOKEN_TTL,
      valuesOf: ({ email, password }) => [email, password],
    });
    const pages = createLinkPages({
      publicUrl: config.PUBLIC_URL,
      path: '/admin/accept-invite',
      allowList: {
        setting: 'USER_INVITE_URL_ALLOW_LIST',
        urls: config.USER_INVITE_URL_ALLOW_LIST,
        field: 'invite_url',
      },
    });
    const deps = { ...used, db, links, statements: invitationStatements(db) };
    const requests: InvitationRequests = {
      invite: createInviteUsers({
        ...deps,
        pages,
        systemCaller: () => host.asSystem('a new invitation changes the role of an invited user'),
      }),
      accept: createAcceptInvitation({
        ...deps,
        stallTime: config.LOGIN_STALL_TIME,
        systemCaller: () => host.asSystem('the holder of an invitation chooses a password'),
      }),
    };
    for (const route of invitationRoutes(requests)) host.contribute(routes, route);
    for (const field of invitationGraphqlFields(requests))
      host.contribute<ContributedGraphqlField>('graphql.fields', field);
  },
});
