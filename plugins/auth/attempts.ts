import { fail } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { SettingsService } from '../settings/contract.ts';
import type { FairSemaphore } from '../workers/contract.ts';
import { createFairSemaphore } from '../workers/library.ts';
import { signInAttemptStatements } from './attempt-statements.ts';

/**
 * Concurrent password checks of one user in this process, shared fairly between client networks, so that a client that guesses
 * does not delay the user. Milliseconds.
 */
const LIMITS_PER_USER = { limit: 4, limitOfKey: 3, queue: 32, queueOfKey: 16, deadline: 10_000 } as const;
/** Seconds of `Retry-After` for a client that was refused because too many attempts were being checked. */
const RETRY_AFTER = 2;
/** Wrong one-time codes without a pause where `auth_login_attempts` is null. */
const UNPAUSED_CODES = 25;
/** Unknown e-mail addresses run the same statements with this id, so that they take as long. */
const NO_USER = '00000000-0000-0000-0000-000000000000';

/** Whom an attempt is for: a user, or the address that the client sent where there is none, which is refused alike. */
export type AttemptSubject = { readonly user: string } | { readonly unknown: string };

export interface LoginAttemptCounter {
  /**
   * Checks a password by `check` and counts the attempt for the user over all processes; `network` is the client's. The user is suspended
   * after `auth_login_attempts` failures since the last completed sign-in.
   * @throws USER_SUSPENDED once the attempts are used up, whatever the password; SERVICE_UNAVAILABLE where the attempts being checked could
   * use them up, or too many wait; what `check` throws, and then the attempt is not counted.
   */
  count(subject: AttemptSubject, network: string, check: () => Promise<boolean>): Promise<boolean>;
  /** The same for a one-time code. Without a limit the user is not suspended and has one attempt in ten seconds after 25 failures. */
  countCode(user: string, network: string, check: () => Promise<boolean>): Promise<boolean>;
  /** Resets the count of a user whose sign-in has passed all steps. */
  reset(user: string): Promise<void>;
  /** Resets the count of users who are set active or get another password; within the unit of work where there is one. */
  forgetChanged(users: readonly string[], change: Readonly<Record<string, unknown>>): Promise<void>;
}

interface AttemptLimit {
  readonly limit: number;
  /** Whether the last failure suspends the user. */
  readonly suspends: boolean;
}

export function createLoginAttemptCounter(db: Db, settings: SettingsService): LoginAttemptCounter {
  const { BEGIN, STATUS, FAIL, RESET, GIVE_BACK, FORGET, LOCK, SUSPEND } = signInAttemptStatements(db);
  const withSemaphore = createUserSemaphores();

  async function begin(user: string, limit: number): Promise<void> {
    const { count } = await db.query(BEGIN, [user, limit]);
    if (count > 0 || user === NO_USER) return;
    const { rows } = await db.query<{ status: string; failures: number }>(STATUS, [user]);
    if (rows[0]?.status !== 'active') throw fail('USER_SUSPENDED', 'the sign-in attempts of the user are used up');
    throw tooManyAttempts();
  }

  async function recordFailure(user: string, { limit, suspends }: AttemptLimit): Promise<void> {
    const { rows } = await db.query<{ failures: number }>(FAIL, [user]);
    if (!suspends || (rows[0]?.failures ?? 0) < limit) return;
    await db.transaction(async () => {
      await db.query(LOCK);
      await db.query(SUSPEND, [user]);
    });
  }

  async function countAttempt(user: string, terms: AttemptLimit, check: () => Promise<boolean>): Promise<boolean> {
    await begin(user, terms.limit);
    let isMatch: boolean;
    try {
      isMatch = await check();
    } catch (error) {
      await db.query(GIVE_BACK, [user]);
      throw error;
    }
    if (isMatch) await db.query(GIVE_BACK, [user]);
    else await recordFailure(user, terms);
    return isMatch;
  }

  return {
    async forgetChanged(users, { status, password }) {
      if (status === 'active' || password !== undefined) await db.query(FORGET, [users]);
    },

    async count(subject, network, check) {
      const { auth_login_attempts: limit } = await settings.current();
      if (limit === null) return check();
      const [user, place] =
        'user' in subject ? [subject.user, subject.user] : [NO_USER, `unknown ${subject.unknown.toLowerCase()}`];
      return withSemaphore(place, network, () => countAttempt(user, { limit, suspends: true }, check));
    },

    async countCode(user, network, check) {
      const { auth_login_attempts: limit } = await settings.current();
      const terms = { limit: limit ?? UNPAUSED_CODES, suspends: limit !== null };
      return withSemaphore(user, network, () => countAttempt(user, terms, check));
    },

    async reset(user) {
      await db.query(RESET, [user]);
    },
  };
}

const tooManyAttempts = () =>
  fail('SERVICE_UNAVAILABLE', 'Too many sign-ins of this user at a time. Try again later.', {
    retryAfter: RETRY_AFTER,
  });

/** Runs work under a semaphore per user, fair between networks; semaphores without work are removed. */
function createUserSemaphores() {
  const users = new Map<string, FairSemaphore>();
  return async <T>(user: string, network: string, work: () => Promise<T>): Promise<T> => {
    const places = users.get(user) ?? createFairSemaphore({ ...LIMITS_PER_USER, refuse: tooManyAttempts });
    users.set(user, places);
    try {
      return await places.run(network, work);
    } finally {
      if (places.held === 0 && places.waiting === 0) users.delete(user);
    }
  };
}
