import type { DedicatedConnection, DedicatedConnections } from '../../database/contract.ts';
import { quoteIdentifier } from '../../database/library.ts';
import type { ArchivedLocation } from '../archive/format.ts';
import type { BackedUpObjects } from '../contract.ts';
import { BackupError } from '../failures.ts';

/** Objects that one statement lists. */
const BATCH = 500;

/** An object that a row of the snapshot names. */
export interface SnapshotObject {
  readonly location: string;
  readonly name: string;
  /** What it belongs to, for messages: `file <id>`. */
  readonly row: string;
  /** Bytes, as the row says. */
  readonly size: number | null;
  readonly type: string | null;
}

/** One moment of the database, which does not change while the backup reads it. */
export interface DatabaseSnapshot {
  /** For `pg_dump --snapshot`. */
  readonly id: string;
  /** ISO 8601, by the clock of the database. */
  readonly at: string;
  readonly roles: readonly string[];
  /** Whether the connection that holds the snapshot is still there. */
  isOpen(): boolean;
  /** What each location has. */
  locations(): Promise<readonly ArchivedLocation[]>;
  objects(locations: readonly string[]): AsyncGenerator<SnapshotObject>;
  end(): Promise<void>;
}

const ROLES_SQL = `select array(select r.rolname::text from pg_shdepend d join pg_roles r on r.oid = d.refobjid
    where d.refclassid = 'pg_authid'::regclass and d.dbid = (select oid from pg_database where datname = current_database())
    and r.rolname not like 'pg\\_%'
  union select pg_get_userbyid(c.relowner)::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema' order by 1) as roles`;

/** Opens a transaction that sees one moment, and exports its snapshot. @throws BackupError where the connection breaks later. */
export async function openSnapshot(
  connections: DedicatedConnections,
  schema: string,
  others: readonly BackedUpObjects[],
): Promise<DatabaseSnapshot> {
  let isOpen = true;
  const connection = await connections.openDedicated(() => {
    isOpen = false;
  });
  const query = async <Row>(text: string, params?: readonly unknown[]) => {
    try {
      return (await connection.query<Row>(text, params)).rows;
    } catch (error) {
      if (isOpen) throw error;
      throw new BackupError('the connection that holds the snapshot was lost', 'repeat the backup', error);
    }
  };
  const table = (name: string) => `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
  const files = table('platform_files');
  const rest = others.map((one) => `select location, name, row, size, type from (${one.query(table)}) objects`);
  try {
    await connection.query('set statement_timeout to 0; set idle_in_transaction_session_timeout to 0');
    await connection.query('begin transaction isolation level repeatable read, read only');
    const [exported] = await query<{ id: string; at: string }>(
      `select pg_export_snapshot() as id, to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`,
    );
    const [owners] = await query<{ roles: string[] }>(ROLES_SQL);
    return {
      ...(exported as { id: string; at: string }),
      roles: owners?.roles ?? [],
      isOpen: () => isOpen,
      locations: () =>
        query<ArchivedLocation>(`select storage as name, count(*)::int as objects, sum(size)::float8 as bytes from
          (select * from (select distinct on (storage, filename_disk) storage, coalesce(filesize, 0) as size from ${files}
              where filename_disk is not null order by storage, filename_disk) files
            ${rest.map((one) => `union all select location, coalesce(size, 0) from (${one}) rest`).join(' ')}) objects group by storage order by storage`),
      async *objects(locations) {
        yield* listFileObjects(query, files, locations);
        for (const one of rest)
          yield* await query<SnapshotObject>(`${one} where location = any($1::text[])`, [locations]);
      },
      end: () => endConnection(connection),
    };
  } catch (error) {
    await endConnection(connection);
    throw error;
  }
}

const endConnection = (connection: DedicatedConnection) => connection.end().catch(() => {});

/** Walks through the objects of files by location and name. */
async function* listFileObjects(
  query: <Row>(text: string, params?: readonly unknown[]) => Promise<Row[]>,
  files: string,
  locations: readonly string[],
): AsyncGenerator<SnapshotObject> {
  let [location, name] = ['', ''];
  for (;;) {
    const rows = await query<SnapshotObject>(
      `select distinct on (storage, filename_disk) storage as location, filename_disk as name, 'file ' || id as row, filesize::float8 as size, type
      from ${files} where filename_disk is not null and storage = any($3::text[]) and (storage, filename_disk) > ($1, $2)
      order by storage, filename_disk limit ${BATCH}`,
      [location, name, locations],
    );
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return;
    ({ location, name } = last);
  }
}
