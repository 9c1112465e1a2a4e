import { randomUUID } from 'node:crypto';
import type { Db } from '../database/contract.ts';
import type { ProcessPresence } from './contract.ts';
import type { ListenAndLockConnection } from './shared-connection.ts';

/** The class of these advisory locks, different from all others in the database. Never changed. */
const CLASS = 1952804466;

/** This process as the database knows it. */
export interface OwnClusterMember {
  readonly id: string;
  /** The value of this process in the column `member` of `OTHER_LIVE_PROCESSES_SQL`; known once the process is connected. */
  key(): string;
  /** Values of `$1` and `$2` in `OTHER_LIVE_PROCESSES_SQL`, the subquery of the other live processes. */
  readonly params: readonly unknown[];
}

/** A part of a statement, parameters `$1` and `$2`: the processes that are alive, but for this one. */
export const OTHER_LIVE_PROCESSES_SQL = `(select objid::text as member from pg_locks where locktype = 'advisory' and granted and objsubid = 2
  and classid = $1::int8::oid and objid <> (hashtext($2)::int8 & 4294967295)::oid
  and database = (select oid from pg_database where datname = current_database())) others`;

/**
 * Each process holds a lock under its id as long as its connection lasts. Two ids with the same hash both count as alive while one
 * of them is: a live process is never reported dead.
 */
export function createProcessPresence(
  db: Pick<Db, 'query' | 'sql'>,
  shared: Pick<ListenAndLockConnection, 'onConnect'>,
): ProcessPresence & { readonly self: OwnClusterMember } {
  const id = randomUUID();
  const GONE = db.sql`select id from unnest($1::text[]) id where not exists (
    select from pg_locks where locktype = 'advisory' and granted and objsubid = 2 and classid = $2::int8::oid
      and objid = (hashtext(id)::int8 & 4294967295)::oid
      and database = (select oid from pg_database where datname = current_database()))`;
  const OTHERS = db.sql`select host(a.client_addr) as address, a.backend_start as since
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and l.granted and l.objsubid = 2 and l.classid = $2::int8::oid
      and l.database = (select oid from pg_database where datname = current_database())
      and not exists (select from unnest($1::text[]) id where l.objid = (hashtext(id)::int8 & 4294967295)::oid)`;
  let key = '';
  shared.onConnect(async (connection) => {
    const { rows } = await connection.query(
      'select pg_advisory_lock_shared($1, hashtext($2)), (hashtext($2)::int8 & 4294967295)::text as key',
      [CLASS, id],
    );
    key = (rows[0] as { key: string }).key;
  });
  return {
    id,
    self: { id, key: () => key, params: [CLASS, id] },
    async findDead(ids) {
      const params = [ids.filter((one) => one !== id), CLASS];
      const { rows } = await db.query<{ id: string }>(GONE, params, { name: 'platform_presence' });
      return rows.map((row) => row.id);
    },
    async findOthers(ids) {
      const params = [[id, ...ids], CLASS];
      const { rows } = await db.query<{ address: string | null; since: Date | null }>(OTHERS, params);
      return rows.map(({ address, since }) => ({ address, since: new Date(since ?? Date.now()).toISOString() }));
    },
  };
}
