import type { RecordedMigration } from './contract.ts';
import { quoteIdentifier, quoteLiteral } from './library.ts';

type Query = <Row>(text: string, params?: readonly unknown[]) => Promise<{ readonly rows: readonly Row[] }>;

export interface MigrationRecords {
  /** Creates the table where it is missing, and reads it. */
  read(): Promise<readonly RecordedMigration[]>;
  /** Reads the table as it is, of a version before this one too; none where the service has never started on the database. */
  peek(): Promise<readonly RecordedMigration[]>;
  insert(record: RecordedMigration): Promise<void>;
}

export function createMigrationRecords(query: Query, schema: string): MigrationRecords {
  const table = `${quoteIdentifier(schema)}.platform_migrations`;
  const tableText = quoteLiteral(table);
  return {
    async read() {
      await query(
        `create table if not exists ${table} (owner text not null, id text not null, at timestamptz not null default now(),
          version text, works_since text, primary key (owner, id))`,
      );
      // Altering takes a lock that reads wait for, so not on every start.
      const { rows } = await query<{ old: boolean }>(
        `select not exists (select from pg_attribute where attrelid = ${tableText}::regclass and attname = 'works_since') as old`,
      );
      if (rows[0]?.old)
        await query(
          `alter table ${table} add column if not exists version text, add column if not exists works_since text`,
        );
      const found = await query<RecordedMigration>(
        `select owner, id, version, works_since as "worksSince" from ${table}`,
      );
      return found.rows;
    },
    async peek() {
      const { rows } = await query<{ found: boolean }>(`select to_regclass(${tableText}) is not null as found`);
      if (!rows[0]?.found) return [];
      const row = 'to_jsonb(m)';
      const found = await query<RecordedMigration>(
        `select owner, id, ${row} ->> 'version' as version, ${row} ->> 'works_since' as "worksSince" from ${table} m order by at, owner, id`,
      );
      return found.rows;
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
