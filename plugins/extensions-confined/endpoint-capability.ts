import { authorities, type Capability } from '#kernel';

export const ACCESS_LEVELS = ['public', 'authenticated', 'app', 'admin'] as const;
export type AccessLevel = (typeof ACCESS_LEVELS)[number];

const CALLERS: Readonly<Record<AccessLevel, string>> = {
  public: 'anyone',
  authenticated: 'signed-in users',
  app: 'users with app access',
  admin: 'admins',
};

/**
 * Who may call an endpoint. `extensions-confined` checks it before the endpoint's code runs (conventions,
 * "endpoint.access").
 */
export const endpointCapability: Capability<{ readonly access: AccessLevel }, { readonly access: AccessLevel }> = {
  name: 'endpoint',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['access'],
    properties: { access: { enum: ACCESS_LEVELS } },
  },
  bind: ({ access }) => ({ access }),
  describe: ({ access }) => authorities('may be called by', [CALLERS[access]]),
  widens: (before, after) =>
    before === undefined || ACCESS_LEVELS.indexOf(after.access) < ACCESS_LEVELS.indexOf(before.access),
};
