import type { AccessControl } from '../access/contract.ts';
import type { ContributedGraphqlField } from '../graphql/contract.ts';
import type { ItemsEngine, Payload } from '../items/contract.ts';
import { assertUserOrShare, requireCallerUser, USERS_COLLECTION } from './require-caller-user.ts';

/**
 * GraphQL fields for the caller's own user, role and permissions. The rows are read and written with the caller's permissions.
 */
export const createUserGraphqlFields = (
  items: Pick<ItemsEngine, 'updateOne'>,
  access: Pick<AccessControl, 'effectivePermissions'>,
): readonly ContributedGraphqlField[] => [
  {
    scope: 'system',
    operation: 'query',
    definition: 'users_me: platform_users',
    row: USERS_COLLECTION,
    resolve: (_args, { caller }) => requireCallerUser(caller),
  },
  {
    scope: 'system',
    operation: 'mutation',
    definition: 'update_users_me(data: update_platform_users_input!): platform_users',
    offeredTo: { collection: USERS_COLLECTION, action: 'update' },
    row: USERS_COLLECTION,
    async resolve({ data }, { caller }) {
      const user = requireCallerUser(caller);
      await items.updateOne(caller, USERS_COLLECTION, user, data as Payload);
      return user;
    },
  },
  {
    scope: 'system',
    operation: 'query',
    definition: 'roles_me: platform_roles',
    row: 'platform_roles',
    resolve(_args, { caller }) {
      if (!caller.share) requireCallerUser(caller);
      return caller.role;
    },
  },
  {
    scope: 'system',
    operation: 'query',
    definition: 'permissions_me: JSON',
    resolve: (_args, { caller }) => access.effectivePermissions(assertUserOrShare(caller)),
  },
];
