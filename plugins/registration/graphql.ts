import type { ContributedGraphqlField } from '../graphql/contract.ts';
import type { RegistrationRequests } from './routes.ts';

/** The same requests as GraphQL mutations. A document may have each once, because it could send hundreds otherwise. */
export const registrationGraphqlFields = ({
  register,
  verify,
}: RegistrationRequests): readonly ContributedGraphqlField[] => [
  {
    scope: 'system',
    operation: 'mutation',
    definition:
      'users_register(email: String!, password: String!, verification_url: String, first_name: String, last_name: String): Boolean',
    once: true,
    async resolve(args, { ctx }) {
      await register(ctx, args);
      return true;
    },
  },
  {
    scope: 'system',
    operation: 'mutation',
    definition: 'users_register_verify(token: String!): Boolean',
    once: true,
    async resolve(args) {
      await verify(args);
      return true;
    },
  },
];
