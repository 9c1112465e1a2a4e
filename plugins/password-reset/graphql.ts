import type { ContributedGraphqlField } from '../graphql/contract.ts';
import type { PasswordResetRequests } from './routes.ts';

/** The same requests as GraphQL mutations. A document may have each once, because it could send hundreds otherwise. */
export const passwordResetGraphqlFields = ({
  request,
  reset,
}: PasswordResetRequests): readonly ContributedGraphqlField[] => [
  {
    scope: 'system',
    operation: 'mutation',
    definition: 'auth_password_request(email: String!, reset_url: String): Boolean',
    once: true,
    async resolve(args, { ctx }) {
      await request(ctx, args);
      return true;
    },
  },
  {
    scope: 'system',
    operation: 'mutation',
    definition: 'auth_password_reset(token: String!, password: String!): Boolean',
    once: true,
    async resolve(args, { ctx }) {
      await reset(ctx, args);
      return true;
    },
  },
];
