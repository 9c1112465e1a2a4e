import { createHash } from 'node:crypto';
import type { Db } from '../database/contract.ts';
import { isUuid } from '../database/library.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import { secondFactorStatements } from './statements.ts';

/** What `platform_users.tfa_secret` has of a user whose second factor is on. Answers show it masked, like any value. */
const ENROLLED_MARK = 'platform_second_factors';
/** How long a secret can be enrolled after it was offered, in milliseconds. */
const OFFER_LIFETIME = 60 * 60_000;

/** A user as far as a second factor depends on it. */
export interface TwoFactorAccount {
  readonly email: string | null;
  readonly provider: string;
  readonly hasPassword: boolean;
  readonly isEnrolled: boolean;
  /** The role has `enforce_tfa`. */
  readonly isEnforced: boolean;
}

/** The enrolled secret of a user, encrypted. */
export interface EnrolledSecret {
  readonly enrollment: string;
  readonly secret: string;
}

/** Second factors of users, as they are stored. Each method is one statement or one unit of work. */
export interface SecondFactorStore {
  account(user: string): Promise<TwoFactorAccount | undefined>;
  hasUser(user: string): Promise<boolean>;
  userOfEmail(email: string): Promise<string | undefined>;
  /** Remembers the hash of a secret that the user may enroll, in place of an earlier one. False where a second factor is on. */
  offer(user: string, secret: string): Promise<boolean>;
  isOffered(user: string, secret: string): Promise<boolean>;
  /** Turns the second factor on; false where it is on already, or another secret was offered meanwhile. */
  enroll(user: string, secret: string, envelope: string, step: number): Promise<boolean>;
  /** Turns the second factor off and deletes the recovery codes; false where it is off. */
  remove(user: string): Promise<boolean>;
  enrolled(user: string): Promise<EnrolledSecret | undefined>;
  /**
   * Uses up a time step and all before it. False where it is used up, or the secret is enrolled no longer. `renewed` replaces the
   * envelope of the secret.
   */
  useStep(user: string, enrollment: string, step: number, renewed: string | undefined): Promise<boolean>;
  useRecoveryCode(user: string, code: string): Promise<boolean>;
  /** Replaces all recovery codes; false where the second factor is off. In a unit of work. */
  replaceRecoveryCodes(user: string, codes: readonly string[]): Promise<boolean>;
  countRecoveryCodes(user: string): Promise<number>;
}

/** The key of a user as it is stored; undefined for what is no key of a user. */
export function parseUserKey(key: unknown): string | undefined {
  const text = typeof key === 'string' ? key.toLowerCase() : '';
  return isUuid(text) ? text : undefined;
}

/** A secret is random and cannot be guessed, so a fast hash is enough. */
const hashOffer = (secret: string): string => createHash('sha256').update(secret).digest('hex');

export function createSecondFactorStore(db: Db): SecondFactorStore {
  const statements = secondFactorStatements(db);
  const changes = async (statement: keyof typeof statements, params: readonly unknown[]): Promise<boolean> =>
    (await db.query(statements[statement], params)).count > 0;
  const first = async <Row>(statement: keyof typeof statements, params: readonly unknown[]): Promise<Row | undefined> =>
    (await db.query<Row>(statements[statement], params)).rows[0];
  const count = async (statement: keyof typeof statements, user: string): Promise<number> =>
    (await first<{ count: number }>(statement, [user]))?.count ?? 0;

  return {
    account: (user) => first('ACCOUNT', [user]),
    hasUser: (user) => changes('USER', [user]),
    userOfEmail: async (email) => (await first<{ id: string }>('USER_OF_EMAIL', [email]))?.id,
    offer: (user, secret) => changes('OFFER', [user, hashOffer(secret)]),
    isOffered: (user, secret) => changes('IS_OFFERED', [user, hashOffer(secret), OFFER_LIFETIME]),
    enroll: (user, secret, envelope, step) =>
      changes('ENROLL', [user, hashOffer(secret), ENROLLED_MARK, envelope, step]),
    remove: async (user) => (await count('REMOVE', user)) > 0,
    enrolled: (user) => first('ENROLLED', [user]),
    useStep: (user, enrollment, step, renewed) => changes('USE_STEP', [user, enrollment, step, renewed ?? null]),
    useRecoveryCode: (user, code) => changes('USE_RECOVERY_CODE', [user, hashRecoveryCode(user, code)]),
    async replaceRecoveryCodes(user, codes) {
      // Of two concurrent requests the second one waits here, and replaces the codes of the first.
      if (!(await changes('LOCK', [user]))) return false;
      await db.query(statements.REMOVE_RECOVERY_CODES, [user]);
      await db.query(statements.ADD_RECOVERY_CODES, [user, codes.map((code) => hashRecoveryCode(user, code))]);
      return true;
    },
    countRecoveryCodes: (user) => count('COUNT_RECOVERY_CODES', user),
  };
}
