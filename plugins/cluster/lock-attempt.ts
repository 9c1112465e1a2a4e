import type { InterProcessLock } from './contract.ts';
import type { ListenAndLockConnection } from './shared-connection.ts';

/** The class of these advisory locks, different from all others in the database. Never changed. */
const CLASS = 1952804465;

/**
 * Locks that are taken at once or not at all. No caller waits, so all locks of a process share one connection. PostgreSQL lets a
 * connection take its own lock again, so a set of names excludes callers of the same process.
 */
export function createAdvisoryLockAttempt(
  shared: Pick<ListenAndLockConnection, 'current'>,
): InterProcessLock['attempt'] {
  const mine = new Set<string>();
  return async (name, work) => {
    if (mine.has(name)) return undefined;
    mine.add(name);
    try {
      const connection = shared.current();
      const { rows } = await connection.query<{ locked: boolean }>(
        'select pg_try_advisory_lock($1, hashtext($2)) as locked',
        [CLASS, name],
      );
      if (!rows[0]?.locked) return undefined;
      try {
        return { value: await work() };
      } finally {
        // A lost connection has released the lock already.
        await connection.query('select pg_advisory_unlock($1, hashtext($2))', [CLASS, name]).catch(() => {});
      }
    } finally {
      mine.delete(name);
    }
  };
}
