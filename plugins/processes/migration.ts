import type { Db, Migration } from '../database/contract.ts';

/** The table of live processes: their version and the settings that they compare. */
export const PROCESSES_TABLE = 'platform_processes';

export function createProcessesMigration(db: Db): Migration {
  const table = db.own(PROCESSES_TABLE);
  return {
    id: '2026-11-27-processes',
    worksSince: '0.1.0',
    up: () =>
      db.ddl(db.sql`create table if not exists ${table} (
        id uuid primary key,
        name text not null,
        version text not null,
        started timestamptz not null default now(),
        settings jsonb not null
      )`),
  };
}
