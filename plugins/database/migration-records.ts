import type { RecordedMigration } from './contract.ts';
import { quoteIdentifier, quoteLiteral } from './library.ts';

type Query = <Row>(text: string, params?: readonly unknown[]) => Promise<{ readonly rows: readonly Row[] }>;

export interface MigrationRecords {
  /** Reads the table as it is, of a version before this one too; none where the service has never started on the database. */
  read(): Promise<readonly RecordedMigration[]>;
  /** Creates the table where it is missing, and brings it to the form of this version. */
  prepare(): Promise<void>;
  insert(record: RecordedMigration): Promise<void>;
}

export function createMigrationRecords(query: Query, schema: string): MigrationRecords {
  const table = `${quoteIdentifier(schema)}.platform_migrations`;
  return {
    async read() {
      const { rows } = await query<{ found: boolean }>(
        `select to_regclass(${quoteLiteral(table)}) is not null as found`,
      );
      if (!rows[0]?.found) return [];
      const row = 'to_jsonb(m)';
      const found = await query<RecordedMigration>(
        `select owner, id, ${row} ->> 'version' as version, ${row} ->> 'works_since' as "worksSince" from ${table} m order by at, owner, id`,
      );
      return found.rows;
    },
    async prepare() {
      await query(
        `create table if not exists ${table} (owner text not null, id text not null, at timestamptz not null default now(),
          version text, works_since text, primary key (owner, id))`,
      );
      await query(
        `alter table ${table} add column if not exists version text, add column if not exists works_since text`,
      );
    },
    async insert({ owner, id, version, worksSince }) {
      await query(`insert into ${table} (owner, id, version, works_since) values ($1, $2, $3, $4)`, [
        owner,
        id,
        version,
        worksSince,
      ]);
    },
  };
}
