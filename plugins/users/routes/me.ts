import { fail } from '#kernel';
import type { Db, GrantedSqlStatement } from '../../database/contract.ts';
import type { HttpContext, Route } from '../../http/contract.ts';
import { bodyOf, parsedQueryStringOf, sendData, sendJsonTextInEnvelope } from '../../http/library.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import type { RawQuery } from '../../query/contract.ts';
import { requireCallerUser, USERS_COLLECTION } from '../require-caller-user.ts';
import {
  READ_ME_ROUTE_DESCRIPTION,
  TRACK_PAGE_ROUTE_DESCRIPTION,
  UPDATE_ME_ROUTE_DESCRIPTION,
} from './route-descriptions.ts';

const PAGE_LENGTH = 255;

const isForbidden = (error: unknown): boolean => (error as { code?: string } | null)?.code === 'FORBIDDEN';
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface Deps {
  readonly items: ItemsEngine;
  readonly db: Db;
  readonly trackPage: GrantedSqlStatement;
}

/** The routes `/users/me`, which read and change the caller's own row with the caller's permissions. */
export function meRoutes({ items, db, trackPage }: Deps): readonly Route[] {
  async function read(ctx: HttpContext): Promise<void> {
    const { caller } = ctx.state;
    if (caller.share) {
      const role = { id: caller.role, admin_access: false, app_access: false };
      return sendData(ctx, { share: caller.share, role });
    }
    const id = requireCallerUser(caller);
    const query = parsedQueryStringOf(ctx);
    try {
      const { data } = await items.readOne(caller, USERS_COLLECTION, id, query);
      return sendJsonTextInEnvelope(ctx, data ?? 'null');
    } catch (error) {
      if (!isForbidden(error)) throw error;
      return sendData(ctx, { id });
    }
  }

  async function update(ctx: HttpContext): Promise<void> {
    const { caller } = ctx.state;
    const id = requireCallerUser(caller);
    const body = bodyOf(ctx);
    if (!isObject(body)) throw fail('INVALID_PAYLOAD', 'the body must be an object');
    const { fields, deep, alias }: RawQuery = parsedQueryStringOf(ctx);
    await items.updateOne(caller, USERS_COLLECTION, id, body);
    try {
      const { data } = await items.readOne(caller, USERS_COLLECTION, id, { fields, deep, alias });
      sendJsonTextInEnvelope(ctx, data ?? 'null');
    } catch (error) {
      if (!isForbidden(error)) throw error;
      sendData(ctx, undefined);
    }
  }

  /** Stores the page the user saw last; needs no permission and emits no event. */
  async function track(ctx: HttpContext): Promise<void> {
    const id = requireCallerUser(ctx.state.caller);
    const body = bodyOf(ctx);
    const page = isObject(body) ? body.last_page : undefined;
    if (typeof page !== 'string' || page.length > PAGE_LENGTH || page.includes('\0')) {
      throw fail('INVALID_PAYLOAD', `last_page must be a text of at most ${PAGE_LENGTH} characters`);
    }
    await db.query(trackPage, [id, page]);
    sendData(ctx, undefined);
  }

  return [
    { method: 'GET', path: '/users/me', description: READ_ME_ROUTE_DESCRIPTION, handle: read },
    { method: 'PATCH', path: '/users/me', description: UPDATE_ME_ROUTE_DESCRIPTION, handle: update },
    { method: 'PATCH', path: '/users/me/track/page', description: TRACK_PAGE_ROUTE_DESCRIPTION, handle: track },
  ];
}
