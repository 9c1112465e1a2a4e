import { type Caller, fail } from '#kernel';
import type { OpenSession, SessionDirectory } from '../auth/contract.ts';
import type { HttpContext, Route } from '../http/contract.ts';
import { parsedQueryStringOf, sendData } from '../http/library.ts';
import {
  END_OTHER_SESSIONS_ROUTE_DESCRIPTION,
  END_OWN_SESSION_ROUTE_DESCRIPTION,
  END_SESSION_OF_USER_ROUTE_DESCRIPTION,
  END_SESSIONS_OF_USER_ROUTE_DESCRIPTION,
  LIST_OWN_SESSIONS_ROUTE_DESCRIPTION,
  LIST_SESSIONS_OF_USER_ROUTE_DESCRIPTION,
} from './route-descriptions.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

/** The routes for sessions: of the caller under `/users/me/sessions`, of any user under `/users/<id>/sessions` for admins. */
export function sessionRoutes(sessions: SessionDirectory): readonly Route[] {
  /** The session of the request's access token, where it is one of this user. */
  const currentOf = (ctx: HttpContext, user: string) =>
    ctx.state.caller.user === user ? sessions.currentOf(ctx) : undefined;

  async function list(ctx: HttpContext, user: string): Promise<void> {
    const { limit, offset } = parsedQueryStringOf(ctx);
    const page = {
      limit: parseWholeNumber('limit', limit, { fallback: DEFAULT_LIMIT, min: 1, max: MAX_LIMIT }),
      offset: parseWholeNumber('offset', offset, { fallback: 0, min: 0, max: Number.MAX_SAFE_INTEGER }),
    };
    const current = currentOf(ctx, user);
    sendData(
      ctx,
      (await sessions.list(user, page)).map((session) => renderSession(session, current)),
    );
  }

  async function endOne(ctx: HttpContext, user: string): Promise<void> {
    const isEnded = await sessions.end(ctx.state.caller, user, ctx.params.session as string);
    if (!isEnded) throw fail('FORBIDDEN', 'the user has no such session');
    sendData(ctx, undefined);
  }

  async function endOthers(ctx: HttpContext, user: string): Promise<void> {
    await sessions.endOthers(ctx.state.caller, user, currentOf(ctx, user));
    sendData(ctx, undefined);
  }

  async function endAll(ctx: HttpContext, user: string): Promise<void> {
    await sessions.endOthers(ctx.state.caller, user);
    sendData(ctx, undefined);
  }

  const own = (handle: (ctx: HttpContext, user: string) => Promise<void>) => (ctx: HttpContext) =>
    handle(ctx, requireUser(ctx.state.caller));
  const ofUser = (handle: (ctx: HttpContext, user: string) => Promise<void>) => (ctx: HttpContext) => {
    if (!ctx.state.caller.admin) throw fail('FORBIDDEN', 'sessions of other users are for admins');
    return handle(ctx, (ctx.params.id as string).toLowerCase());
  };

  const [ALL, ONE] = ['/users/me/sessions', '/users/me/sessions/:session'];
  const [ALL_OF_USER, ONE_OF_USER] = ['/users/:id/sessions', '/users/:id/sessions/:session'];
  return [
    { method: 'GET', path: ALL, description: LIST_OWN_SESSIONS_ROUTE_DESCRIPTION, handle: own(list) },
    { method: 'DELETE', path: ALL, description: END_OTHER_SESSIONS_ROUTE_DESCRIPTION, handle: own(endOthers) },
    { method: 'DELETE', path: ONE, description: END_OWN_SESSION_ROUTE_DESCRIPTION, handle: own(endOne) },
    { method: 'GET', path: ALL_OF_USER, description: LIST_SESSIONS_OF_USER_ROUTE_DESCRIPTION, handle: ofUser(list) },
    {
      method: 'DELETE',
      path: ALL_OF_USER,
      description: END_SESSIONS_OF_USER_ROUTE_DESCRIPTION,
      handle: ofUser(endAll),
    },
    { method: 'DELETE', path: ONE_OF_USER, description: END_SESSION_OF_USER_ROUTE_DESCRIPTION, handle: ofUser(endOne) },
  ];
}

const renderSession = ({ id, created, lastUsed, expires, client }: OpenSession, current: string | undefined) => ({
  id,
  current: id === current,
  created,
  last_used: lastUsed,
  expires,
  ip: client.ip ?? null,
  user_agent: client.userAgent ?? null,
  origin: client.origin ?? null,
});

/** @throws INVALID_CREDENTIALS for a caller without a user */
function requireUser({ user }: Caller): string {
  if (user === null) throw fail('INVALID_CREDENTIALS', 'the request has no user');
  return user;
}

interface NumberRange {
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
}

function parseWholeNumber(name: string, value: unknown, { fallback, min, max }: NumberRange): number {
  if (value === undefined) return fallback;
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw fail('INVALID_QUERY', `"${name}" must be a whole number from ${min} to ${max}`);
}
