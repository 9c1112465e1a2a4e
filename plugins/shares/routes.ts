import { fail } from '#kernel';
import type { SessionService, SessionTokens } from '../auth/contract.ts';
import { delayFailures } from '../auth/library.ts';
import type { HttpContext, Route } from '../http/contract.ts';
import { bodyOf, sendData } from '../http/library.ts';
import type { InviteToShare } from './invite.ts';
import { MAX_ADDRESSES } from './invite.ts';
import {
  INVITE_TO_SHARE_ROUTE_DESCRIPTION,
  SHARE_INFO_ROUTE_DESCRIPTION,
  USE_SHARE_ROUTE_DESCRIPTION,
} from './route-descriptions.ts';
import type { ReadShareInfo } from './share-info.ts';
import type { UseShare } from './use-share.ts';

interface Deps {
  readonly useShare: UseShare;
  readonly readInfo: ReadShareInfo;
  readonly invite: InviteToShare;
  readonly sessions: Pick<SessionService, 'writeCookie'>;
  /** Milliseconds. */
  readonly stallTime: number;
}

/** The routes beside those of the collection: a visitor's, and invitations. */
export function shareRoutes({ useShare, readInfo, invite, sessions, stallTime }: Deps): readonly Route[] {
  async function use(ctx: HttpContext): Promise<void> {
    const answer = await delayFailures(stallTime, async () => {
      const fields = objectOf(bodyOf(ctx));
      const share = textOf(fields, 'share');
      if (share === undefined) throw invalid('share', 'given');
      const password = textOf(fields, 'password');
      const mode = textOf(fields, 'mode') ?? 'json';
      if (mode !== 'json' && mode !== 'cookie') throw invalid('mode', 'json or cookie');
      const tokens = await useShare(ctx.state.caller, share, password);
      if (mode === 'cookie') sessions.writeCookie(ctx, tokens.refreshToken);
      return toAnswer(tokens, mode);
    });
    ctx.set('Cache-Control', 'no-store');
    sendData(ctx, answer);
  }

  return [
    { method: 'POST', path: '/shares/auth', description: USE_SHARE_ROUTE_DESCRIPTION, handle: use },
    {
      method: 'GET',
      path: '/shares/info/:id',
      description: SHARE_INFO_ROUTE_DESCRIPTION,
      handle: async (ctx) => sendData(ctx, await readInfo(ctx.params.id as string)),
    },
    {
      method: 'POST',
      path: '/shares/invite',
      description: INVITE_TO_SHARE_ROUTE_DESCRIPTION,
      async handle(ctx) {
        const fields = objectOf(bodyOf(ctx));
        const share = textOf(fields, 'share');
        if (share === undefined) throw invalid('share', 'given');
        await invite(ctx.state.caller, share, addressesOf(fields));
        sendData(ctx, undefined);
      },
    },
  ];
}

const toAnswer = ({ accessToken, refreshToken, expires }: SessionTokens, mode: 'json' | 'cookie') => ({
  access_token: accessToken,
  expires,
  ...(mode === 'json' ? { refresh_token: refreshToken } : {}),
});

const invalid = (field: string, expected: string) =>
  fail('INVALID_PAYLOAD', `"${field}" must be ${expected}`, { path: [field] });

function objectOf(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  throw fail('INVALID_PAYLOAD', 'the body must be an object');
}

function textOf(fields: Readonly<Record<string, unknown>>, field: string): string | undefined {
  const value = fields[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalid(field, 'a text');
  return value;
}

function addressesOf({ emails }: Readonly<Record<string, unknown>>): readonly string[] {
  const isList = Array.isArray(emails) && emails.every((one) => typeof one === 'string');
  if (!isList || emails.length === 0 || emails.length > MAX_ADDRESSES)
    throw invalid('emails', `a list of 1 to ${MAX_ADDRESSES} addresses`);
  return emails as readonly string[];
}
