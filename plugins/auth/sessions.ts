import { createHash, randomBytes } from 'node:crypto';
import type { Db } from '../database/contract.ts';
import type { clientOf } from '../http/library.ts';
import { sessionStatements } from './session-statements.ts';

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
  | { readonly state: 'unknown' | 'expired' | 'inactive' };

export interface Sessions {
  /** Signs a user in, if his password is still the one that was checked; undefined otherwise. */
  open(user: { readonly id: string; readonly password: string | null }, client: Client): Promise<string | undefined>;
  /** Takes a token for a new one. Of several who bring the same token, one gets it. */
  rotate(token: string, client: Client): Promise<Rotation>;
  /** Whose session this is, while it lasts and its owner is active. Nothing of it changes. */
  owner(token: string): Promise<Owner | undefined>;
  close(token: string): Promise<void>;
  /** Ends all sessions of these users. */
  closeOf(users: readonly string[]): Promise<void>;
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
  const { OPEN, ROTATE, OWNER, CLOSE, LOCK_CHANGED, CLOSE_ALL } = sessionStatements(db);
  return {
    async open({ id, password }, client) {
      const token = makeToken();
      const { count } = await db.query(OPEN, [id, password, stored(token), lifetime, ...about(client)]);
      return count === 1 ? token : undefined;
    },

    async rotate(token, client) {
      const next = makeToken();
      const { rows } = await db.query<Owner & { gone: boolean; expired: boolean }>(ROTATE, [
        stored(token),
        stored(next),
        lifetime,
        ...about(client),
      ]);
      const [row] = rows;
      if (!row?.gone) return { state: 'unknown' };
      if (row.expired) return { state: 'expired' };
      return row.status === 'active' ? { state: 'renewed', owner: row, token: next } : { state: 'inactive' };
    },

    async owner(token) {
      const { rows } = await db.query<Owner>(OWNER, [stored(token)], { name: 'auth_session_owner' });
      return rows[0];
    },

    async close(token) {
      await db.query(CLOSE, [stored(token)]);
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
