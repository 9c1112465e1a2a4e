import { randomUUID } from 'node:crypto';
import { type Caller, fail, type Log } from '#kernel';
import type { HistoryRecorder } from '../activity/contract.ts';
import type { Db } from '../database/contract.ts';
import type { RegistrationProof, VerifiedChallenge } from './challenges.ts';
import { PASSKEYS_COLLECTION } from './collections.ts';
import type { PasskeyNotices } from './notices.ts';
import { MAX_PASSKEYS, passkeyStatements } from './statements.ts';
import type { NewPasskey, PasskeyUser } from './webauthn.ts';

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
  /** The user as dialogs show it; undefined where there is no such user. */
  findUser(user: string): Promise<PasskeyUser | undefined>;
  list(user: string): Promise<readonly ListedPasskey[]>;
  /** @throws INVALID_PAYLOAD, RECORD_NOT_UNIQUE, INVALID_CREDENTIALS */
  add(
    caller: Caller,
    challenge: VerifiedChallenge<RegistrationProof>,
    passkey: NewPasskey & { readonly name: string; readonly transports: readonly string[] },
  ): Promise<ListedPasskey>;
  /** @throws FORBIDDEN for a passkey that the user does not have. */
  rename(caller: Caller, user: string, id: string, name: string): Promise<ListedPasskey>;
  /** @throws FORBIDDEN for a passkey that the user does not have. */
  remove(caller: Caller, user: string, id: string): Promise<void>;
  removeAll(caller: Caller, user: string): Promise<void>;
  findByCredential(credential: string): Promise<StoredPasskey | undefined>;
  /** Records a sign-in whose signature is valid. @throws INVALID_CREDENTIALS */
  use(
    passkey: StoredPasskey,
    challenge: { readonly id: string },
    state: { counter: number; backedUp: boolean },
  ): Promise<void>;
}

interface Deps {
  readonly activity: Pick<HistoryRecorder, 'record'>;
  readonly db: Db;
  readonly log: Pick<Log, 'warn'>;
  readonly notices: PasskeyNotices;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const isUuid = (...texts: readonly string[]) => texts.every((text) => UUID.test(text));
const unknownPasskey = () => fail('FORBIDDEN', 'the user has no such passkey');

export function createPasskeyStore({ activity, db, log, notices }: Deps): PasskeyStore {
  const statements = passkeyStatements(db);
  const record = (caller: Caller, action: string, item: string, user: string) =>
    activity.record(caller, { action, collection: PASSKEYS_COLLECTION, item, comment: `of user ${user}` });

  async function assertNew(user: string, credential: string): Promise<void> {
    const { rows } = await db.query<{ count: number }>(statements.COUNT, [user]);
    if ((rows[0]?.count ?? 0) >= MAX_PASSKEYS)
      throw fail('INVALID_PAYLOAD', `A user has ${MAX_PASSKEYS} passkeys at most.`);
    if ((await db.query(statements.EXISTS, [credential])).count > 0) throw alreadyRegistered();
  }

  async function afterRemoval(
    caller: Caller,
    user: string,
    removed: readonly { id: string; name: string }[],
  ): Promise<void> {
    for (const { id, name } of removed) {
      await record(caller, 'delete', id, user);
      await notices.send(user, 'removed', name);
    }
  }

  return {
    async findUser(user) {
      const { rows } = await db.query<{
        id: string;
        email: string | null;
        first_name: string | null;
        last_name: string | null;
      }>(statements.USER, [user]);
      const [row] = rows;
      if (!row) return undefined;
      const name = row.email ?? row.id;
      const displayName = [row.first_name, row.last_name].filter(Boolean).join(' ') || name;
      return { id: row.id, name, displayName };
    },

    list: async (user) => (isUuid(user) ? (await db.query<ListedPasskey>(statements.LIST, [user])).rows : []),

    add: (caller, { id: challenge, user, passwordDigest }, passkey) =>
      db.transaction(async () => {
        await db.query(statements.LOCK, [user]);
        await assertNew(user, passkey.credential);
        if ((await db.query(statements.SPEND, [challenge])).count === 0)
          throw fail('INVALID_PAYLOAD', 'The challenge was used before.');
        const { credential, publicKey, counter, synced, backedUp, transports, name } = passkey;
        const { rows } = await db.query<ListedPasskey>(statements.INSERT, [
          randomUUID(),
          user,
          name,
          credential,
          publicKey,
          counter,
          JSON.stringify(transports),
          synced,
          backedUp,
          passwordDigest,
        ]);
        const [added] = rows;
        if (!added) {
          // Another user may have registered it meanwhile.
          if ((await db.query(statements.EXISTS, [credential])).count > 0) throw alreadyRegistered();
          throw fail('INVALID_CREDENTIALS', 'the user changed since the registration began');
        }
        await record(caller, 'create', added.id, user);
        await notices.send(user, 'added', name);
        return added;
      }),

    rename: (caller, user, id, name) =>
      db.transaction(async () => {
        const { rows } = isUuid(user, id)
          ? await db.query<ListedPasskey>(statements.RENAME, [user, id, name])
          : { rows: [] };
        const [renamed] = rows;
        if (!renamed) throw unknownPasskey();
        await record(caller, 'update', renamed.id, user);
        return renamed;
      }),

    remove: (caller, user, id) =>
      db.transaction(async () => {
        if (!isUuid(user, id)) throw unknownPasskey();
        const { rows } = await db.query<{ id: string; name: string }>(statements.DELETE, [user, id]);
        if (rows.length === 0) throw unknownPasskey();
        await afterRemoval(caller, user, rows);
      }),

    removeAll: (caller, user) =>
      db.transaction(async () => {
        if (!isUuid(user)) return;
        const { rows } = await db.query<{ id: string; name: string }>(statements.DELETE_ALL, [user]);
        await afterRemoval(caller, user, rows);
      }),

    async findByCredential(credential) {
      const { rows } = await db.query<{ id: string; user: string; credential: string; public_key: string }>(
        statements.FIND,
        [credential],
        { name: 'passkey_by_credential' },
      );
      const [row] = rows;
      return row && { id: row.id, user: row.user, credential: row.credential, publicKey: row.public_key };
    },

    async use({ id, user }, challenge, { counter, backedUp }) {
      const { rows } = await db.query<{ fresh: boolean; used: boolean; known: boolean }>(statements.USE, [
        challenge.id,
        id,
        counter,
        backedUp,
      ]);
      const { fresh, used, known } = rows[0] as { fresh: boolean; used: boolean; known: boolean };
      if (used) return;
      if (!fresh) throw fail('INVALID_CREDENTIALS', 'the challenge was used before');
      if (!known) throw fail('INVALID_CREDENTIALS', 'the passkey was removed');
      log.warn(
        { passkey: id, user, counter },
        'a sign-in was refused: the counter of the passkey went back, so it may have been copied',
      );
      throw fail('INVALID_CREDENTIALS', 'the counter of the passkey went back');
    },
  };
}

const alreadyRegistered = () => fail('RECORD_NOT_UNIQUE', 'This passkey is registered already.');
