import { type Caller, fail, type Log } from '#kernel';
import type { Db } from '../database/contract.ts';
import { isUuid } from '../database/library.ts';
import { type AddPasskey, createAddPasskey } from './add-passkey.ts';
import type { PasskeyChangeRecorder } from './change-recorder.ts';
import type { PasskeyUser } from './options.ts';
import { createRecordSignIn, type RecordSignIn } from './record-sign-in.ts';
import { passkeyStatements } from './statements.ts';

/** A passkey as the routes answer it. */
export interface ListedPasskey {
  readonly id: string;
  readonly name: string;
  readonly credential: string;
  readonly transports: readonly string[];
  readonly synced: boolean;
  readonly backed_up: boolean;
  readonly date_created: Date;
  readonly last_used: Date | null;
}

/** The part of a passkey that a sign-in is verified by. */
export interface StoredPasskey {
  readonly id: string;
  readonly user: string;
  readonly credential: string;
  readonly publicKey: string;
}

/** Passkeys in the database. Nothing of them is kept in memory, so that a change holds at once in all processes. */
export interface PasskeyStore {
  readonly add: AddPasskey;
  readonly recordSignIn: RecordSignIn;
  /** The user as dialogs show it; undefined where there is no such user. */
  findUser(user: string): Promise<PasskeyUser | undefined>;
  findByCredential(credential: string): Promise<StoredPasskey | undefined>;
  list(user: string): Promise<readonly ListedPasskey[]>;
  /** @throws FORBIDDEN for a passkey that the user does not have. */
  rename(caller: Caller, user: string, id: string, name: string): Promise<ListedPasskey>;
  /** @throws FORBIDDEN for a passkey that the user does not have. */
  remove(caller: Caller, user: string, id: string): Promise<void>;
  removeAll(caller: Caller, user: string): Promise<void>;
}

interface Deps {
  readonly db: Db;
  readonly log: Pick<Log, 'warn'>;
  readonly recordChange: PasskeyChangeRecorder;
}

interface UserRow {
  readonly id: string;
  readonly email: string | null;
  readonly first_name: string | null;
  readonly last_name: string | null;
}

export function createPasskeyStore({ db, log, recordChange }: Deps): PasskeyStore {
  const statements = passkeyStatements(db);

  /** The only row of a statement that changes a passkey of the user. @throws FORBIDDEN where there is none */
  async function changeOne<Row>(statement: typeof statements.RENAME, user: string, id: string, ...more: string[]) {
    const { rows } = isUuid(user) && isUuid(id) ? await db.query<Row>(statement, [user, id, ...more]) : { rows: [] };
    if (rows[0] === undefined) throw fail('FORBIDDEN', 'the user has no such passkey');
    return rows[0];
  }

  return {
    add: createAddPasskey({ db, recordChange, statements }),
    recordSignIn: createRecordSignIn({ db, log, statements }),

    async findUser(user) {
      const [row] = (await db.query<UserRow>(statements.USER, [user])).rows;
      if (!row) return undefined;
      const name = row.email ?? row.id;
      const displayName = [row.first_name, row.last_name].filter(Boolean).join(' ') || name;
      return { id: row.id, name, displayName };
    },

    async findByCredential(credential) {
      const { rows } = await db.query<StoredPasskey>(statements.FIND, [credential], { name: 'passkey_by_credential' });
      return rows[0];
    },

    list: async (user) => (isUuid(user) ? (await db.query<ListedPasskey>(statements.LIST, [user])).rows : []),

    rename: (caller, user, id, name) =>
      db.transaction(async () => {
        const renamed = await changeOne<ListedPasskey>(statements.RENAME, user, id, name);
        await recordChange(caller, 'update', user, renamed);
        return renamed;
      }),

    remove: (caller, user, id) =>
      db.transaction(async () => {
        const removed = await changeOne<{ id: string; name: string }>(statements.DELETE, user, id);
        await recordChange(caller, 'delete', user, removed);
      }),

    removeAll: (caller, user) =>
      db.transaction(async () => {
        if (!isUuid(user)) return;
        const { rows } = await db.query<{ id: string; name: string }>(statements.DELETE_ALL, [user]);
        for (const removed of rows) await recordChange(caller, 'delete', user, removed);
      }),
  };
}
