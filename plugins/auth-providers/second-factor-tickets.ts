import { randomUUID } from 'node:crypto';
import { fail } from '#kernel';
import type { SealedValues } from '../auth/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import type { ProviderSignOut } from './contract.ts';
import { createProviderCookie } from './provider-cookie.ts';

/** A sign-in whose user the provider has proven, and which waits for a code of the second factor. */
export interface AwaitedCode {
  /** Used once over all processes. */
  readonly id: string;
  /** Key of the user. */
  readonly user: string;
  readonly mode: 'json' | 'cookie';
  /** Where the sign-in ends. */
  readonly redirect: string | undefined;
  /** What the provider calls the user and its session. */
  readonly signOut: Pick<ProviderSignOut, 'subject' | 'session'> | undefined;
}

/** Milliseconds that a user has to enter a code. */
export const TICKET_LIFETIME = 300_000;
const PURPOSE = 'second factor after a sign-in provider';

interface Options {
  readonly provider: string;
  /** The path of PUBLIC_URL, below which the code is asked for. */
  readonly path: string;
  readonly secure: boolean;
  readonly sealed: SealedValues;
}

/**
 * Tickets of sign-ins that wait for a code: sealed, for five minutes. In the mode `cookie` the ticket is in a cookie, which binds it to
 * the browser and which scripts cannot read. In the mode `json` the client receives it where it would have received the tokens.
 */
export interface SecondFactorTickets {
  /** Issues a ticket. Answers it in the mode `json`; in the mode `cookie` the browser receives it. */
  issue(ctx: HttpContext, awaited: Omit<AwaitedCode, 'id'>): string | undefined;
  /** The sign-in of a ticket; without `ticket` that of the cookie. @throws INVALID_TOKEN, TOKEN_EXPIRED */
  open(ctx: HttpContext, ticket: string | undefined): AwaitedCode;
  /** Takes the cookie from the browser. */
  clear(ctx: HttpContext): void;
}

export function createSecondFactorTickets({ provider, path, secure, sealed }: Options): SecondFactorTickets {
  const cookie = createProviderCookie({ name: `service_second_factor_${provider}`, path, secure });
  // A ticket of the one mode is none of the other.
  const holderOf = (mode: AwaitedCode['mode']) => `${mode} of ${provider}`;

  return {
    issue(ctx, awaited) {
      const { mode } = awaited;
      const ticket = sealed.seal(PURPOSE, holderOf(mode), { ...awaited, id: randomUUID() }, TICKET_LIFETIME);
      if (mode === 'json') return ticket;
      if (!cookie.set(ctx, ticket, TICKET_LIFETIME))
        throw fail(
          'INVALID_OTP',
          'a code is needed, and the address that the sign-in ends at is too long to wait for it',
        );
      return undefined;
    },
    open(ctx, ticket) {
      const text = ticket ?? cookie.get(ctx);
      if (!text) throw fail('INVALID_TOKEN', 'neither the request nor the browser brings a ticket');
      return sealed.open(PURPOSE, holderOf(ticket === undefined ? 'cookie' : 'json'), text) as AwaitedCode;
    },
    clear: cookie.clear,
  };
}
