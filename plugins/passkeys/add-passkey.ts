import { randomUUID } from 'node:crypto';
import { type Caller, fail } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { RegistrationProof, VerifiedChallenge } from './challenges.ts';
import type { PasskeyChangeRecorder } from './change-recorder.ts';
import type { ListedPasskey } from './passkey-store.ts';
import { MAX_PASSKEYS, type passkeyStatements } from './statements.ts';
import type { NewPasskey } from './verification.ts';

/** A new passkey with what the browser and the user say about it. */
export interface NamedPasskey extends NewPasskey {
  readonly name: string;
  readonly transports: readonly string[];
}

/**
 * Stores a verified passkey for the user of the challenge and spends the challenge.
 * @throws INVALID_PAYLOAD for a spent challenge and for too many passkeys, RECORD_NOT_UNIQUE for a credential that any user has,
 * INVALID_CREDENTIALS where the user is not active any more or has another password since the registration began.
 */
export type AddPasskey = (
  caller: Caller,
  challenge: VerifiedChallenge<RegistrationProof>,
  passkey: NamedPasskey,
) => Promise<ListedPasskey>;

interface Deps {
  readonly db: Db;
  readonly recordChange: PasskeyChangeRecorder;
  readonly statements: ReturnType<typeof passkeyStatements>;
}

export function createAddPasskey({ db, recordChange, statements }: Deps): AddPasskey {
  const exists = async (credential: string) => (await db.query(statements.EXISTS, [credential])).count > 0;

  async function insert({ user, passwordDigest }: RegistrationProof, passkey: NamedPasskey): Promise<ListedPasskey> {
    const { credential, publicKey, counter, synced, backedUp, transports, name } = passkey;
    const key = [randomUUID(), user, name, credential, publicKey];
    const state = [counter, JSON.stringify(transports), synced, backedUp, passwordDigest];
    const { rows } = await db.query<ListedPasskey>(statements.INSERT, [...key, ...state]);
    if (rows[0]) return rows[0];
    // Another user may have registered it meanwhile.
    if (await exists(credential)) throw alreadyRegistered();
    throw fail('INVALID_CREDENTIALS', 'the user changed since the registration began');
  }

  return (caller, challenge, passkey) =>
    db.transaction(async () => {
      await db.query(statements.LOCK, [challenge.user]);
      const { rows } = await db.query<{ count: number }>(statements.COUNT, [challenge.user]);
      if ((rows[0]?.count ?? 0) >= MAX_PASSKEYS)
        throw fail('INVALID_PAYLOAD', `A user has ${MAX_PASSKEYS} passkeys at most.`);
      if (await exists(passkey.credential)) throw alreadyRegistered();
      if ((await db.query(statements.SPEND, [challenge.id])).count === 0)
        throw fail('INVALID_PAYLOAD', 'The challenge was used before.');
      const added = await insert(challenge, passkey);
      await recordChange(caller, 'create', challenge.user, added);
      return added;
    });
}

const alreadyRegistered = () => fail('RECORD_NOT_UNIQUE', 'This passkey is registered already.');
