import { type Caller, type EventsApi, fail, type IdentityApi } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { Db } from '../database/contract.ts';
import { isUuid } from '../database/library.ts';
import { clientInfoOf } from '../http/library.ts';
import type { AccessTokenClaims, AccessTokenCodec } from './access-tokens.ts';
import type { AuthClientInfo, CallerProvider } from './contract.ts';
import type { CookieClaims } from './cookie-claims.ts';
import { createCallersOfListeners, type FindCallerOfListeners } from './listener-callers.ts';
import { presentedToken } from './presented-token.ts';
import { assertAddressAllowedForRole } from './role-ip-access.ts';
import type { StaticTokenVerifier } from './static-tokens.ts';
import type { ActiveUserCheck } from './user-status.ts';

interface Deps {
  readonly identity: IdentityApi;
  readonly events: Pick<EventsApi, 'filter' | 'hasListeners'>;
  readonly db: Db;
  readonly access: Pick<AccessControl, 'role' | 'sharedItem'>;
  readonly tokens: AccessTokenCodec;
  readonly userStatus: ActiveUserCheck;
  readonly statics: StaticTokenVerifier;
  readonly cookieClaims: Pick<CookieClaims, 'ofPageRequest'>;
}

/** The service `identity`, and what the middleware `identify` needs besides. */
export interface CallerFactory {
  readonly service: CallerProvider;
  /** The caller of a token, as by `service.ofToken`; a static token is marked in `state`, that of the request. */
  ofPresentedToken(token: string, client: AuthClientInfo, state?: { usesStaticToken?: boolean }): Promise<Caller>;
  readonly ofListeners: FindCallerOfListeners;
  /** The caller of claims that the session cookie proves. @throws INVALID_IP */
  ofClaims(claims: AccessTokenClaims, client: AuthClientInfo): Promise<Caller>;
}

interface UserRow {
  readonly id: string;
  readonly status: string;
  readonly role: string | null;
}

const PUBLIC = { user: null, role: null, admin: false, app: false } as const;

export function createCallerFactory({
  identity,
  events,
  db,
  access,
  tokens,
  userStatus,
  statics,
  cookieClaims,
}: Deps): CallerFactory {
  const USERS = db.sql`select id, status, role from ${db.read('platform_users')} where id = any($1::uuid[]) order by id`;

  /** The caller of a share that is in force, with its role of this moment. */
  async function ofShare(share: string, client: AuthClientInfo): Promise<Caller> {
    const shared = await access.sharedItem(share);
    if (!shared) throw fail('INVALID_CREDENTIALS', 'the share is over');
    await assertAddressAllowedForRole(access, shared.role, client.ip);
    return identity.mint('share', { ...PUBLIC, ...client, role: shared.role, share });
  }

  async function ofClaims(
    { id, role, admin_access, app_access, share }: AccessTokenClaims,
    client: AuthClientInfo,
  ): Promise<Caller> {
    if (typeof share === 'string') return ofShare(share, client);
    await assertAddressAllowedForRole(access, role, client.ip);
    return identity.mint('token', { ...client, user: id, role, admin: admin_access, app: app_access || admin_access });
  }

  const rowsOf = async (ids: readonly string[]): Promise<readonly UserRow[]> =>
    (await db.query<UserRow>(USERS, [ids.filter((id) => isUuid(id))], { name: 'auth_users_by_id' })).rows;

  async function callerOf({ id, role }: UserRow, client: AuthClientInfo | undefined): Promise<Caller> {
    const flags = await access.role(role);
    const admin = flags?.admin ?? false;
    return identity.mint('user', { ...client, user: id, role, admin, app: admin || (flags?.app ?? false) });
  }

  const ofPresentedToken: CallerFactory['ofPresentedToken'] = async (token, client, state) => {
    const verified = tokens.verify(token);
    if (!verified) {
      const caller = await ofClaims(await statics.claimsOf(token), client);
      if (state) state.usesStaticToken = true;
      return caller;
    }
    if (verified.claims.id !== null) await userStatus.assertActive(verified.claims.id);
    return ofClaims(verified.claims, client);
  };

  const ofPublic = async (client: AuthClientInfo = {}): Promise<Caller> => {
    await assertAddressAllowedForRole(access, null, client.ip);
    return identity.mint('public', { ...PUBLIC, ...client });
  };
  const ofListeners = createCallersOfListeners({ identity, events, ofPublic });

  const service: CallerProvider = {
    ofToken: (token, client = {}) => ofPresentedToken(token, client),

    isSignedAdmin(ctx) {
      const token = presentedToken(ctx);
      return (token === undefined ? undefined : tokens.verify(token))?.claims.admin_access ?? false;
    },

    async ofUser(id, client) {
      const [row] = await rowsOf([id]);
      if (!row) throw fail('INVALID_CREDENTIALS', 'no user has this id');
      if (row.status !== 'active') throw fail('USER_SUSPENDED', `the user is ${row.status}`);
      return callerOf(row, client);
    },

    async ofUsers(ids, client) {
      const active = (await rowsOf(ids)).filter(({ status }) => status === 'active');
      return new Map(await Promise.all(active.map(async (row) => [row.id, await callerOf(row, client)] as const)));
    },

    async ofSessionCookie(ctx) {
      const client = clientInfoOf(ctx);
      const claims = await cookieClaims.ofPageRequest(ctx, client.ip);
      return claims && claims.id !== null ? ofClaims(claims, client) : undefined;
    },

    ofPublic,

    ofSocketMessage: (message, client = {}) => ofListeners('websocket.authenticate', client, () => ({ message })),
  };
  return { service, ofClaims, ofListeners, ofPresentedToken };
}
