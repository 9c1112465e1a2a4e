import { CLAIM_KEYS } from '../auth-providers/library.ts';

/** Keys of both drivers that are clients of an authorization server. */
export const OAUTH_CLIENT_KEYS = {
  ...CLAIM_KEYS,
  CLIENT_ID: { type: 'string', required: true, about: 'the id of this service at the provider' },
  CLIENT_SECRET: {
    type: 'string',
    secret: true,
    about: 'the secret of this service at the provider; none for a public client',
  },
  CLIENT_TOKEN_ENDPOINT_AUTH_METHOD: {
    type: 'string',
    enum: ['client_secret_basic', 'client_secret_post', 'none'],
    about: 'how the secret is sent; by default as the provider says, or client_secret_basic',
  },
  PARAMS: { type: 'json', about: 'an object of further parameters of the authorization request' },
} as const;

/** Parameters of the authorization request that no setting may change. */
const RESERVED = [
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
];

/** @throws Error for PARAMS that are no texts, or that belong to the protocol */
export function parseAuthorizationParameters(params: unknown): Readonly<Record<string, string>> {
  if (params === undefined) return {};
  if (typeof params !== 'object' || params === null || Array.isArray(params)) throw new Error('PARAMS is no object');
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      if (RESERVED.includes(name)) throw new Error(`PARAMS may not set ${name}`);
      if (!['string', 'number', 'boolean'].includes(typeof value)) throw new Error(`PARAMS.${name} is no text`);
      return [name, String(value)];
    }),
  );
}
