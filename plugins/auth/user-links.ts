import { createHash } from 'node:crypto';
import { fail } from '#kernel';
import { isUuid } from '../database/library.ts';
import type { LinkTokens } from './contract.ts';

/** The claims of a link for one user: the user's key, and a digest of what ends the link when it changes. */
export interface UserLinkClaims {
  readonly id: string;
  readonly digest: string;
}

/** Tokens of links for one user each, such as those that set a password. */
export interface UserLinks<User> {
  sign(user: User): string;
  /** @throws INVALID_TOKEN, TOKEN_EXPIRED */
  verify(token: string): UserLinkClaims;
  /** Whether the user is still as at the time of the link. */
  isOf(user: User, claims: UserLinkClaims): boolean;
}

export interface UserLinksOptions<User> {
  readonly tokens: LinkTokens;
  readonly purpose: string;
  /** Milliseconds. */
  readonly lifetime: number;
  /**
   * Columns that end the link when one of them changes. A link that sets a password works once where the stored hash is among
   * them. The holder of the token cannot read them from it.
   */
  readonly valuesOf: (user: User) => readonly (string | null)[];
}

export function createUserLinks<User extends { readonly id: string }>({
  tokens,
  purpose,
  lifetime,
  valuesOf,
}: UserLinksOptions<User>): UserLinks<User> {
  const digestOf = (user: User): string =>
    createHash('sha256')
      .update(JSON.stringify([user.id, ...valuesOf(user)]))
      .digest('base64url');
  return {
    sign(user) {
      const claims: UserLinkClaims = { id: user.id, digest: digestOf(user) };
      return tokens.sign(purpose, { ...claims }, lifetime);
    },

    verify(token) {
      const { id, digest } = tokens.verify(purpose, token);
      if (typeof id !== 'string' || !isUuid(id) || typeof digest !== 'string')
        throw fail('INVALID_TOKEN', 'the claims of the link are incomplete');
      return { id, digest };
    },

    isOf: (user, { id, digest }) => user.id === id && digestOf(user) === digest,
  };
}
