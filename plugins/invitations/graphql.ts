import type { ContributedGraphqlField } from '../graphql/contract.ts';
import type { InvitationRequests } from './routes.ts';

/** The same requests as GraphQL mutations; `users_invite` for callers who may create users. */
export const invitationGraphqlFields = ({ invite, accept }: InvitationRequests): readonly ContributedGraphqlField[] => [
  {
    scope: 'system',
    operation: 'mutation',
    definition: 'users_invite(email: String!, role: String!, invite_url: String): Boolean',
    offeredTo: { collection: 'platform_users', action: 'create' },
    async resolve(args, { caller }) {
      await invite(caller, args);
      return true;
    },
  },
  {
    scope: 'system',
    operation: 'mutation',
    definition: 'users_invite_accept(token: String!, password: String!): Boolean',
    once: true,
    async resolve(args, { ctx }) {
      await accept(ctx, args);
      return true;
    },
  },
];
