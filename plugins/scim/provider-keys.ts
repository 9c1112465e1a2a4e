import type { ProviderKeys } from '../auth-providers/contract.ts';

/** Characters of a token: 32 random ones cannot be guessed. */
export const MIN_TOKEN_LENGTH = 32;

/** The keys of sign-in providers for SCIM, as AUTH_<NAME>_<KEY>. */
export const scimProviderKeys: ProviderKeys = {
  name: 'scim',
  keys: {
    SCIM_TOKEN: { type: 'string', secret: true, about: 'the bearer token of the identity provider; turns SCIM on' },
    SCIM_TOKEN_PREVIOUS: { type: 'string', secret: true, about: 'the token before it, valid until it is unset' },
    SCIM_GROUPS: { type: 'boolean', default: true, about: 'groups are taken, and decide roles by ROLE_MAPPING' },
    SCIM_LINK_LOCAL_USERS: {
      type: 'boolean',
      default: false,
      about: 'a new user takes over a local account by e-mail',
    },
    SCIM_ALLOW_ADMIN: { type: 'boolean', default: false, about: 'may change admins, and give admin roles' },
  },
  decidesRoles: async (provider) =>
    provider.value<boolean>('SCIM_GROUPS') && (await provider.secret('SCIM_TOKEN')) !== undefined,
};

const TOKEN_VARIABLE = /^AUTH_\w+_SCIM_TOKEN(?:_FILE)?$/;

/** Whether any provider has a token. Without one the service has no route of SCIM. */
export const isScimConfigured = (variables: Readonly<Record<string, string>>): boolean =>
  Object.entries(variables).some(([name, value]) => TOKEN_VARIABLE.test(name) && value.trim() !== '');
