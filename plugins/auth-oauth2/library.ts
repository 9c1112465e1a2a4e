/** Keys and parameters of all drivers that are clients of an authorization server. */
export { OAUTH_CLIENT_KEYS, parseAuthorizationParameters } from './client-keys.ts';
