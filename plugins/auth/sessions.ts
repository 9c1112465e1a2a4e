import { createHash, randomBytes } from 'node:crypto';
import type { Db } from '../database/contract.ts';
import type { clientInfoOf } from '../http/library.ts';
import { sessionStatements } from './session-statements.ts';

type Client = ReturnType<typeof clientInfoOf>;

/** The user of a session, as stored. */
export interface SessionOwner {
  readonly id: string;
  readonly status: string;
  readonly provider: string;
  readonly role: string | null;
  readonly admin_access: boolean | null;
  readonly app_access: boolean | null;
}

export type RefreshOutcome =
  | {
      readonly state: 'renewed';
      readonly owner: SessionOwner;
      readonly token: string;
      readonly session: string;
      /** When the user signed in, in seconds since 1970; null for a session that an earlier version opened. */
      readonly signedInAt: number | null;
    }
  /** The token was spent before, and its session was still open: it has ended now. */
  | { readonly state: 'reused'; readonly user: string; readonly session: string }
  | { readonly state: 'unknown' | 'expired' | 'inactive' };

/** An open session. Dates are null for sessions that a version without them opened. */
export interface SessionRow {
  readonly id: string;
  readonly created: Date | null;
  readonly last_used: Date | null;
  readonly expires: Date;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly origin: string | null;
}

export interface SessionStore {
  /**
   * Opens a session with this id and answers its refresh token; undefined where the password changed since it was checked.
   */
  open(
    user: { readonly id: string; readonly password: string | null },
    client: Client,
    session: string,
  ): Promise<string | undefined>;
  /**
   * Exchanges a token for a new one of the same session. Of several concurrent requests with one token, one succeeds.
   */
  rotate(token: string, client: Client): Promise<RefreshOutcome>;
  /** The owner of a session that has not expired, if active. Changes nothing. */
  owner(token: string): Promise<SessionOwner | undefined>;
  /** The open sessions of a user, the one used last first. */
  list(user: string, limit: number, offset: number): Promise<readonly SessionRow[]>;
  close(token: string): Promise<void>;
  /** Ends one session of a user; false where the user has no such session. */
  closeOne(user: string, session: string): Promise<boolean>;
  /** Ends the sessions of a user, except this one. Answers how many there were. */
  closeOthers(user: string, kept: string | null): Promise<number>;
  /** Ends all sessions of these users. */
  closeOf(users: readonly string[]): Promise<void>;
  /** Ends the sessions of the users whose password, e-mail address or status the change sets to another value. */
  closeChanged(users: readonly string[], change: Readonly<Record<string, unknown>>): Promise<void>;
}

interface SessionStoreOptions {
  /** Milliseconds for which a session lives without being used. */
  readonly lifetime: number;
  /** Whether the use of a spent token ends its session. */
  readonly revokesOnReuse: boolean;
}

/** A random refresh token: 64 characters with 6 random bits each. */
export const createRefreshToken = (): string => randomBytes(48).toString('base64url');
/** A random token cannot be guessed, so a fast hash is enough. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');
export const clientColumns = ({ ip, userAgent, origin }: Client) =>
  [ip, userAgent, origin].map((text) => text?.slice(0, 255).replaceAll('\0', '') ?? null);

export function createSessionStore(db: Db, { lifetime, revokesOnReuse }: SessionStoreOptions): SessionStore {
  const statements = sessionStatements(db, revokesOnReuse);

  /**
   * Deletes sessions after the rows of their users are locked. A refresh locks them first, too: without the lock it could move a
   * session to a new row that the deletion does not see.
   */
  const closeLocked = (users: readonly string[], close: () => Promise<{ readonly count: number }>): Promise<number> =>
    db.transaction(async () => {
      await db.query(statements.LOCK, [users]);
      return (await close()).count;
    });

  const closeOne: SessionStore['closeOne'] = async (user, session) =>
    (await closeLocked([user], () => db.query(statements.CLOSE_ONE, [user, session]))) > 0;

  return {
    async open({ id, password }, client, session) {
      const token = createRefreshToken();
      const params = [id, password, hashToken(token), lifetime, ...clientColumns(client), session];
      return (await db.query(statements.OPEN, params)).count === 1 ? token : undefined;
    },

    async rotate(token, client) {
      const next = createRefreshToken();
      const hash = hashToken(token);
      type Row = SessionOwner & { session: string | null; expired: boolean; signed_in_at: number | null };
      const { rows } = await db.query<Row>(statements.ROTATE, [
        hash,
        hashToken(next),
        lifetime,
        ...clientColumns(client),
      ]);
      const [row] = rows;
      if (!row?.session)
        return revokesOnReuse ? endReusedSession(db, statements, closeOne, hash) : { state: 'unknown' };
      const { session, expired, signed_in_at: signedInAt, ...owner } = row;
      if (expired) return { state: 'expired' };
      if (owner.status !== 'active') return { state: 'inactive' };
      return { state: 'renewed', owner, token: next, session, signedInAt };
    },

    async owner(token) {
      const { rows } = await db.query<SessionOwner>(statements.OWNER, [hashToken(token)], {
        name: 'auth_session_owner',
      });
      return rows[0];
    },

    async list(user, limit, offset) {
      return (await db.query<SessionRow>(statements.LIST, [user, limit, offset])).rows;
    },

    async close(token) {
      await db.query(statements.CLOSE, [hashToken(token)]);
    },

    closeOne,

    closeOthers: (user, kept) => closeLocked([user], () => db.query(statements.CLOSE_OTHERS, [user, kept])),

    async closeOf(users) {
      await closeLocked(users, () => db.query(statements.CLOSE_ALL, [users]));
    },

    async closeChanged(users, change) {
      const [password, email, status] = ['password', 'email', 'status'].map((name) => change[name] !== undefined);
      if (!password && !email && !status) return;
      const params = [users, password, email, textOf(change.email), status, textOf(change.status)];
      const { rows } = await db.query<{ id: string }>(statements.LOCK_CHANGED, params);
      if (rows.length > 0) await db.query(statements.CLOSE_ALL, [rows.map(({ id }) => id)]);
    },
  };
}

/** Ends the session of a token that was spent. Of several uses of such a token one finds the session open. */
async function endReusedSession(
  db: Pick<Db, 'query'>,
  { SPENT, FORGET_SPENT }: ReturnType<typeof sessionStatements>,
  closeOne: SessionStore['closeOne'],
  hash: string,
): Promise<RefreshOutcome> {
  const { rows } = await db.query<{ session: string; user: string }>(SPENT, [hash]);
  const [spent] = rows;
  if (!spent) return { state: 'unknown' };
  const isEnded = await closeOne(spent.user, spent.session);
  await db.query(FORGET_SPENT, [spent.session]);
  return isEnded ? { state: 'reused', ...spent } : { state: 'unknown' };
}

const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));
