import { createHash, randomBytes } from 'node:crypto';
import type { Db } from '../database/contract.ts';
import type { clientOf } from '../http/contract.ts';
import { table } from './tables.ts';

type Client = ReturnType<typeof clientOf>;

/** What the owner of a session is, as it stands in the database. */
export interface Owner {
  readonly id: string;
  readonly status: string;
  readonly provider: string;
  readonly role: string | null;
  readonly admin_access: boolean | null;
  readonly app_access: boolean | null;
}

export type Rotation =
  | { readonly state: 'renewed'; readonly owner: Owner; readonly token: string }
  | { readonly state: 'unknown' | 'expired' | 'inactive' | 'elsewhere' };

export interface Sessions {
  /** Signs a user in, if his password is still the one that was checked; undefined otherwise. */
  open(user: { readonly id: string; readonly password: string | null }, client: Client): Promise<string | undefined>;
  /** Takes a token for a new one. Of several who bring the same token, one gets it. */
  rotate(token: string, client: Client): Promise<Rotation>;
  /** Whose session this is, while it lasts, its owner is active and may come from this address. Nothing of it changes. */
  owner(token: string, ip: string | null): Promise<Owner | undefined>;
  close(token: string): Promise<void>;
  /** Ends the sessions of those users whose password, e-mail or status is about to be changed. */
  closeChanged(users: readonly string[], change: Readonly<Record<string, unknown>>): Promise<void>;
}

/** 64 characters of 6 random bits. */
const makeToken = (): string => randomBytes(48).toString('base64url');
/** 256 random bits cannot be guessed, so a plain hash keeps them as well as a slow one would. */
const stored = (token: string): string => createHash('sha256').update(token).digest('hex');
const about = ({ ip, userAgent, origin }: Client) =>
  [ip, userAgent, origin].map((text) => text?.slice(0, 255).replaceAll('\0', '') ?? null);

export function createSessions(db: Db, lifetime: number): Sessions {
  return {
    async open({ id, password }, client) {
      const token = makeToken();
      // One statement, which holds the user's row: a password changed meanwhile leaves no session behind.
      const { count } = await db.query(
        `with seen as (
          update ${table(db, 'users')} set last_access = now()
          where id = $1 and status = 'active' and password is not distinct from $2 returning id
        ), old as (
          delete from ${table(db, 'sessions')} where token in (
            select token from ${table(db, 'sessions')} where expires < now() for update skip locked)
        )
        insert into ${table(db, 'sessions')} (token, "user", expires, ip, user_agent, origin)
        select $3, id, now() + $4 * interval '1 millisecond', $5, $6, $7 from seen returning 1`,
        [id, password, stored(token), lifetime, ...about(client)],
      );
      return count === 1 ? token : undefined;
    },

    async rotate(token, client) {
      const next = makeToken();
      const { rows } = await db.query<Owner & { gone: boolean; expired: boolean; made: boolean }>(rotation(db), [
        stored(token),
        stored(next),
        lifetime,
        ...about(client),
      ]);
      const [row] = rows;
      if (!row?.gone) return { state: 'unknown' };
      if (row.expired) return { state: 'expired' };
      if (row.status !== 'active') return { state: 'inactive' };
      return row.made ? { state: 'renewed', owner: row, token: next } : { state: 'elsewhere' };
    },

    async owner(token, ip) {
      const { rows } = await db.query<Owner>(
        `select u.id, u.status, u.provider, u.role, r.admin_access, r.app_access
        from ${table(db, 'sessions')} s join ${table(db, 'users')} u on u.id = s."user"
        left join ${table(db, 'roles')} r on r.id = u.role
        where s.token = $1 and s.share is null and s.expires > now() and u.status = 'active'
          and ${comesFrom('$2')}`,
        [stored(token), ip],
        { name: 'auth_session_owner' },
      );
      return rows[0];
    },

    async close(token) {
      await db.query(`delete from ${table(db, 'sessions')} where token = $1`, [stored(token)]);
    },

    async closeChanged(users, change) {
      const [password, email, status] = ['password', 'email', 'status'].map((name) => change[name] !== undefined);
      if (!password && !email && !status) return;
      // The rows stay locked until the change is done. A refresh takes them first, too: it either comes later and finds
      // no session, or was there before, and its new session is seen by the second statement.
      const { rows } = await db.query<{ id: string }>(
        `select id from ${table(db, 'users')} where id = any($1::uuid[])
          and ($2 or ($3 and email is distinct from $4) or ($5 and status is distinct from $6)) order by id for update`,
        [users, password, email, textOf(change.email), status, textOf(change.status)],
      );
      if (rows.length === 0) return;
      await db.query(`delete from ${table(db, 'sessions')} where "user" = any($1::uuid[])`, [rows.map(({ id }) => id)]);
    },
  };
}

const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

/** Is this address among those of the role `r`, or is the role bound to none? */
const comesFrom = (ip: string): string =>
  `(coalesce(r.ip_access, '') = '' or ${ip}::text = any(string_to_array(replace(r.ip_access, ' ', ''), ',')))`;

/**
 * Everything in one statement: the user's row is locked before the session's, the old token goes, and a new one comes
 * only where the old one was there, in time and its owner may go on.
 */
const rotation = (db: Db): string => `with held as materialized (
    select token, "user" from ${table(db, 'sessions')} where token = $1 and share is null
  ), owner as materialized (
    select u.id, u.status, u.provider, u.role from ${table(db, 'users')} u join held on u.id = held."user" for no key update of u
  ), gone as (
    delete from ${table(db, 'sessions')} s using owner where s.token = $1 and s."user" = owner.id returning s.expires <= now() as expired
  ), made as (
    insert into ${table(db, 'sessions')} (token, "user", expires, ip, user_agent, origin)
    select $2, owner.id, now() + $3 * interval '1 millisecond', $4::text, $5, $6
    from owner cross join gone left join ${table(db, 'roles')} r on r.id = owner.role
    where owner.status = 'active' and not gone.expired
      and ${comesFrom('$4')}
    returning "user"
  ), seen as (
    update ${table(db, 'users')} u set last_access = now() from made where u.id = made."user"
  )
  select owner.id, owner.status, owner.provider, owner.role, r.admin_access, r.app_access,
    gone.expired is not null as gone, coalesce(gone.expired, false) as expired, made."user" is not null as made
  from owner left join ${table(db, 'roles')} r on r.id = owner.role left join gone on true left join made on true`;
