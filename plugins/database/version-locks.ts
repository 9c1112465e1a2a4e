import { fail } from '#kernel';

/** The class of these advisory locks, different from all others in the database. Never changed. */
const CLASS = 1952804467;

const VERSION = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?=$|[-+])/;
const BASE = 1000;

/**
 * A version as a number that grows with it; `0.2.0-beta.1` counts as `0.2.0`.
 * @throws INTERNAL_SERVER_ERROR for a text that is no version
 */
export function versionNumberOf(version: string): number {
  const parts = VERSION.exec(version)?.slice(1).map(Number);
  if (!parts) throw fail('INTERNAL_SERVER_ERROR', `"${version}" is not a version such as 1.2.3`);
  return parts.reduce((sum, part) => sum * BASE + part, 0);
}

const renderVersion = (number: number): string =>
  [number / BASE ** 2, (number / BASE) % BASE, number % BASE].map(Math.floor).join('.');

/**
 * The statement by which a process shows its version to others as long as the connection lasts, so that PostgreSQL knows the versions
 * of all live processes, and forgets those of dead ones.
 */
export const renderVersionLockSql = (version: string): string =>
  `select pg_advisory_lock_shared(${CLASS}, ${versionNumberOf(version)})`;

const LIVE = `select objid::text as number, count(*)::int as processes from pg_locks where locktype = 'advisory' and granted
  and objsubid = 2 and classid = ${CLASS} and database = (select oid from pg_database where datname = current_database())
  group by 1`;

/** A version that runs on this database, and in how many processes. */
export interface LiveVersion {
  readonly version: string;
  readonly processes: number;
}

type Query = <Row>(text: string) => Promise<{ readonly rows: readonly Row[] }>;

/** The versions that run on this database, this process included. */
export async function readLiveVersions(query: Query): Promise<readonly LiveVersion[]> {
  const { rows } = await query<{ number: string; processes: number }>(LIVE);
  return rows.map(({ number, processes }) => ({ version: renderVersion(Number(number)), processes }));
}
