import { authorities, type Capability } from '#kernel';

export const ENDPOINT_ACCESS_LEVELS = ['public', 'authenticated', 'app', 'admin'] as const;
export type EndpointAccessLevel = (typeof ENDPOINT_ACCESS_LEVELS)[number];

const CALLERS: Readonly<Record<EndpointAccessLevel, string>> = {
  public: 'anyone',
  authenticated: 'signed-in users',
  app: 'users with app access',
  admin: 'admins',
};

/**
 * Who may call an endpoint. `extensions-confined` checks it before the endpoint's code runs (conventions,
 * "endpoint.access").
 */
export const endpointCapability: Capability<
  { readonly access: EndpointAccessLevel },
  { readonly access: EndpointAccessLevel }
> = {
  name: 'endpoint',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['access'],
    properties: { access: { enum: ENDPOINT_ACCESS_LEVELS } },
  },
  bind: ({ access }) => ({ access }),
  describe: ({ access }) => authorities('may be called by', [CALLERS[access]]),
  widens: (before, after) =>
    before === undefined ||
    ENDPOINT_ACCESS_LEVELS.indexOf(after.access) < ENDPOINT_ACCESS_LEVELS.indexOf(before.access),
};
