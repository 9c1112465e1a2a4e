import { AsyncLocalStorage } from 'node:async_hooks';
import type { Db, DedicatedConnections } from '../database/contract.ts';
import type { InterProcessLock } from './contract.ts';

/** The class of these advisory locks, different from all others in the database. Never changed. */
const CLASS = 1952804464;

/**
 * Advisory locks of PostgreSQL: the database releases them with the connection, so a process that dies blocks no other.
 * Each held lock has a connection outside the pool, since work under a lock needs the pool itself; within one process
 * callers queue before they take one.
 */
export function createAdvisoryLock(
  connections: DedicatedConnections,
  db: Pick<Db, 'query' | 'sql'>,
): Pick<InterProcessLock, 'run' | 'isHeld'> {
  const IS_HELD = db.sql`select exists (select from pg_locks where locktype = 'advisory' and granted and objsubid = 2
    and classid = $1::int8::oid and objid = (hashtext($2)::int8 & 4294967295)::oid
    and database = (select oid from pg_database where datname = current_database())) as held`;
  const queues = new Map<string, Promise<unknown>>();
  const held = new AsyncLocalStorage<ReadonlySet<string>>();

  async function runLocked<T>(name: string, work: () => Promise<T>): Promise<T> {
    const connection = await connections.openDedicated(() => {});
    try {
      await connection.query('select pg_advisory_lock($1, hashtext($2))', [CLASS, name]);
      return await held.run(new Set([...(held.getStore() ?? []), name]), work);
    } finally {
      await connection.end();
    }
  }

  return {
    async isHeld(name) {
      const { rows } = await db.query<{ held: boolean }>(IS_HELD, [CLASS, name]);
      return rows[0]?.held === true;
    },
    async run(name, work) {
      // A holder that takes its own lock again would wait for itself.
      if (held.getStore()?.has(name)) return work();
      const before = queues.get(name) ?? Promise.resolve();
      const mine = before.then(
        () => runLocked(name, work),
        () => runLocked(name, work),
      );
      queues.set(name, mine);
      try {
        return await mine;
      } finally {
        if (queues.get(name) === mine) queues.delete(name);
      }
    },
  };
}
