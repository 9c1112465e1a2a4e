import { fail } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { Settings } from '../settings/contract.ts';
import { createSemaphores } from '../workers/library.ts';
import { attemptStatements } from './attempt-statements.ts';

/** Sign-ins of one user that this process checks at a time: more at once must not look like guessing. */
const AT_A_TIME = 4;
/** Those of one user that wait for their turn, and milliseconds that one may wait: whoever guesses must not fill the service. */
const WAITING = 32;
const DEADLINE = 10_000;
/** Seconds after which a client that came while too many were checked may try again. */
const RETRY_AFTER = 2;
const tooMany = () =>
  fail('SERVICE_UNAVAILABLE', 'Too many sign-ins of this user at a time. Try again later.', {
    retryAfter: RETRY_AFTER,
  });
/** What an attempt is counted for where no user has the address: no row, by the same statements. */
const NO_USER = '00000000-0000-0000-0000-000000000000';

export interface Attempts {
  /**
   * Checks a password by `check`, and counts it for the user over all processes: the user is suspended when `auth_login_attempts` of them
   * have failed since the last that succeeded.
   * @throws USER_SUSPENDED where they are used up, whatever the password; SERVICE_UNAVAILABLE where those that are being checked would
   * use them up; what `check` throws, and then nothing is counted.
   */
  count(user: string | undefined, check: () => Promise<boolean>): Promise<boolean>;
  /** Users who are made active, or get another password, begin anew; within the unit of work where there is one. */
  forgetChanged(users: readonly string[], change: Readonly<Record<string, unknown>>): Promise<void>;
}

export function createAttempts(db: Db, settings: Settings): Attempts {
  const { BEGIN, STATUS, FAIL, SUCCEED, GIVE_BACK, FORGET, LOCK, SUSPEND } = attemptStatements(db);
  const turns = createSemaphores({ limit: AT_A_TIME, queue: WAITING, deadline: DEADLINE, refuse: tooMany });

  async function begin(user: string, limit: number): Promise<void> {
    const { count } = await db.query(BEGIN, [user, limit]);
    if (count > 0 || user === NO_USER) return;
    const { rows } = await db.query<{ status: string; failures: number }>(STATUS, [user]);
    if (rows[0]?.status !== 'active') throw fail('USER_SUSPENDED', 'the sign-in attempts of the user are used up');
    throw tooMany();
  }

  async function failed(user: string, limit: number): Promise<void> {
    const { rows } = await db.query<{ failures: number }>(FAIL, [user]);
    if ((rows[0]?.failures ?? 0) < limit) return;
    await db.transaction(async () => {
      await db.query(LOCK);
      await db.query(SUSPEND, [user]);
    });
  }

  async function counted(user: string, limit: number, check: () => Promise<boolean>): Promise<boolean> {
    await begin(user, limit);
    let isMatch: boolean;
    try {
      isMatch = await check();
    } catch (error) {
      await db.query(GIVE_BACK, [user]);
      throw error;
    }
    if (isMatch) await db.query(SUCCEED, [user]);
    else await failed(user, limit);
    return isMatch;
  }

  return {
    async forgetChanged(users, { status, password }) {
      if (status === 'active' || password !== undefined) await db.query(FORGET, [users]);
    },

    async count(user, check) {
      const { auth_login_attempts: limit } = await settings.current();
      if (limit === null) return check();
      if (user === undefined) return counted(NO_USER, limit, check);
      return turns.run(user, () => counted(user, limit, check));
    },
  };
}
