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
  | { readonly state: 'renewed'; readonly owner: SessionOwner; readonly token: string }
  | { readonly state: 'unknown' | 'expired' | 'inactive' };

export interface SessionStore {
  /** Opens a session and answers its refresh token; undefined where the password changed since it was checked. */
  open(user: { readonly id: string; readonly password: string | null }, client: Client): Promise<string | undefined>;
  /** Exchanges a token for a new one. Of several concurrent requests with one token, one succeeds. */
  rotate(token: string, client: Client): Promise<RefreshOutcome>;
  /** The owner of a session that has not expired, if active. Changes nothing. */
  owner(token: string): Promise<SessionOwner | undefined>;
  close(token: string): Promise<void>;
  /** Ends all sessions of these users. */
  closeOf(users: readonly string[]): Promise<void>;
  /** Ends the sessions of the users whose password, e-mail address or status the change sets to another value. */
  closeChanged(users: readonly string[], change: Readonly<Record<string, unknown>>): Promise<void>;
}

/** A random refresh token: 64 characters with 6 random bits each. */
export const createRefreshToken = (): string => randomBytes(48).toString('base64url');
/** A random token cannot be guessed, so a fast hash is enough. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');
export const clientColumns = ({ ip, userAgent, origin }: Client) =>
  [ip, userAgent, origin].map((text) => text?.slice(0, 255).replaceAll('\0', '') ?? null);

export function createSessionStore(db: Db, lifetime: number): SessionStore {
  const { OPEN, ROTATE, OWNER, CLOSE, LOCK_CHANGED, CLOSE_ALL } = sessionStatements(db);
  return {
    async open({ id, password }, client) {
      const token = createRefreshToken();
      const { count } = await db.query(OPEN, [id, password, hashToken(token), lifetime, ...clientColumns(client)]);
      return count === 1 ? token : undefined;
    },

    async rotate(token, client) {
      const next = createRefreshToken();
      const { rows } = await db.query<SessionOwner & { gone: boolean; expired: boolean }>(ROTATE, [
        hashToken(token),
        hashToken(next),
        lifetime,
        ...clientColumns(client),
      ]);
      const [row] = rows;
      if (!row?.gone) return { state: 'unknown' };
      if (row.expired) return { state: 'expired' };
      return row.status === 'active' ? { state: 'renewed', owner: row, token: next } : { state: 'inactive' };
    },

    async owner(token) {
      const { rows } = await db.query<SessionOwner>(OWNER, [hashToken(token)], { name: 'auth_session_owner' });
      return rows[0];
    },

    async close(token) {
      await db.query(CLOSE, [hashToken(token)]);
    },

    async closeOf(users) {
      await db.query(CLOSE_ALL, [users]);
    },

    async closeChanged(users, change) {
      const [password, email, status] = ['password', 'email', 'status'].map((name) => change[name] !== undefined);
      if (!password && !email && !status) return;
      const params = [users, password, email, textOf(change.email), status, textOf(change.status)];
      const { rows } = await db.query<{ id: string }>(LOCK_CHANGED, params);
      if (rows.length > 0) await db.query(CLOSE_ALL, [rows.map(({ id }) => id)]);
    },
  };
}

const textOf = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));
