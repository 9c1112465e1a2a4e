import type { Lock } from './contract.ts';
import type { SharedConnection } from './shared-connection.ts';

/** Tells these locks from other advisory locks in the database. Never changed. */
const CLASS = 1952804465;

/**
 * Locks that are had at once or not at all. Nobody waits for one, so all of a process can share a connection, on which
 * PostgreSQL counts them; within the process a set of names keeps them apart, since a connection never locks out itself.
 */
export function createAttempt(shared: Pick<SharedConnection, 'current'>): Lock['attempt'] {
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
        // Where the connection is gone, so is the lock.
        await connection.query('select pg_advisory_unlock($1, hashtext($2))', [CLASS, name]).catch(() => {});
      }
    } finally {
      mine.delete(name);
    }
  };
}
