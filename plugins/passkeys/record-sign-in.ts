import { fail, type Log } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { StoredPasskey } from './passkey-store.ts';
import type { passkeyStatements } from './statements.ts';

/**
 * Spends the challenge of a response whose signature is valid, and records the use of the passkey.
 * @throws INVALID_CREDENTIALS for a spent challenge, a passkey that was removed meanwhile, and a counter that is not higher than before.
 */
export type RecordSignIn = (
  passkey: StoredPasskey,
  challenge: { readonly id: string },
  state: { readonly counter: number; readonly backedUp: boolean },
) => Promise<void>;

interface Deps {
  readonly db: Db;
  readonly log: Pick<Log, 'warn'>;
  readonly statements: ReturnType<typeof passkeyStatements>;
}

interface Outcome {
  readonly fresh: boolean;
  readonly known: boolean;
  readonly used: boolean;
}

export const createRecordSignIn =
  ({ db, log, statements }: Deps): RecordSignIn =>
  async ({ id, user }, challenge, { counter, backedUp }) => {
    const { rows } = await db.query<Outcome>(statements.USE, [challenge.id, id, counter, backedUp]);
    const { fresh, known, used } = rows[0] as Outcome;
    if (used) return;
    if (!fresh) throw fail('INVALID_CREDENTIALS', 'the challenge was used before');
    if (!known) throw fail('INVALID_CREDENTIALS', 'the passkey was removed');
    log.warn(
      { passkey: id, user, counter },
      'a sign-in was refused: the counter of the passkey went back, so it may have been copied',
    );
    throw fail('INVALID_CREDENTIALS', 'the counter of the passkey went back');
  };
