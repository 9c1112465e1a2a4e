import type { Db, GrantedSqlStatement } from '../database/contract.ts';

/** A time as SCIM has it (RFC 7643, section 2.3.5), in UTC with milliseconds. */
export const renderTime = (db: Db, sql: GrantedSqlStatement): GrantedSqlStatement =>
  db.sql`to_char(${sql} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
