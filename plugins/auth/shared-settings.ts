import type { SharedSetting } from '../processes/contract.ts';
import type { TokenSecrets } from './token-secrets.ts';

/** Settings that have to be the same in all processes, because a client may send each request to another one. */
export const createSharedAuthSettings = (
  secrets: () => TokenSecrets,
  { REFRESH_TOKEN_COOKIE_NAME }: { readonly REFRESH_TOKEN_COOKIE_NAME: string },
): readonly SharedSetting[] => [
  {
    name: 'SECRET',
    values: () => [secrets().current, ...secrets().previous],
    secret: true,
    consequence: 'each process refuses the access tokens and the links in mails of the other',
  },
  {
    name: 'REFRESH_TOKEN_COOKIE_NAME',
    values: () => [REFRESH_TOKEN_COOKIE_NAME],
    consequence: 'a browser that signed in at one process is not signed in at the other',
  },
];
