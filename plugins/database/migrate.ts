import type { Client } from 'pg';
import { fail, type Log } from '#kernel';
import { RemediableError } from './connect-error-remedies.ts';
import { type Db, DISABLE_STATEMENT_TIMEOUT_SQL, type Migration, type RecordedMigration } from './contract.ts';
import { quoteIdentifier } from './library.ts';
import type { LeasedConnectionStatementRunner } from './statement-runner.ts';
import type { UnitsOfWork } from './unit-of-work.ts';

/** Key of the advisory lock under which one process at a time runs migrations. Never change it. */
const LOCK = '1952804463, 1';

export interface MigrateDeps {
  readonly statements: LeasedConnectionStatementRunner;
  readonly units: UnitsOfWork;
  readonly schemas: readonly string[];
  readonly log: Log;
  /** The `host.db` of a plugin; undefined where the plugin never read it. */
  readonly dbOf: (plugin: string) => Db | undefined;
  /** DB_ALLOW_NEWER_SCHEMA: starts on tables that a newer version changed. */
  readonly allowNewer: boolean;
  /**
   * A connection outside the pool: in a pool of one, the migrations would wait for the connection that holds the lock.
   */
  readonly connect: () => Promise<Client>;
}

/** Runs every migration that is not recorded yet, each in one transaction with its record. */
export async function runPendingMigrations(
  steps: readonly { owner: string; value: Migration }[],
  deps: MigrateDeps,
): Promise<void> {
  assertUniqueIds(steps);
  const { statements, units, schemas, log, dbOf } = deps;
  const table = `${quoteIdentifier(schemas[0] as string)}.platform_migrations`;
  const lockClient = await deps.connect();
  try {
    await takeLock(lockClient, log);
    await statements.query(
      `create table if not exists ${table} (owner text not null, id text not null, at timestamptz not null default now(), primary key (owner, id))`,
    );
    const { rows } = await statements.query<{ owner: string; id: string }>(`select owner, id from ${table}`);
    if (!deps.allowNewer) assertNotNewer(steps, rows, dbOf);
    const recorded = new Set(rows.map(({ owner, id }) => `${owner}\0${id}`));
    for (const { owner, value } of steps) {
      if (recorded.has(`${owner}\0${value.id}`)) continue;
      const db = dbOf(owner);
      if (!db) throw fail('CAPABILITY_DENIED', `${owner} may not prepare tables: it has no host.db (database)`);
      await units.transaction(async () => {
        await statements.query(DISABLE_STATEMENT_TIMEOUT_SQL);
        await value.up(db);
        await statements.query(`insert into ${table} (owner, id) values ($1, $2)`, [owner, value.id]);
      });
      log.debug({ plugin: owner, step: value.id }, 'tables prepared');
    }
  } finally {
    // The end of the session releases the lock.
    await lockClient.end();
  }
}

/**
 * Stops the start where the database has a migration that this version does not know: a newer version changed the
 * tables, and this version could write wrong rows. Migrations of plugins that are not loaded do not count. A migration
 * that moved to another plugin is known by its id.
 */
function assertNotNewer(
  steps: readonly { owner: string; value: Migration }[],
  recorded: readonly RecordedMigration[],
  dbOf: MigrateDeps['dbOf'],
): void {
  const [newer] = findNewerMigrations(steps, recorded, dbOf);
  if (!newer) return;
  throw new RemediableError(
    `a newer version of ${newer.owner} changed the tables (${newer.id}), which this version does not know`,
    'start the newer version, or restore a backup from before it; DB_ALLOW_NEWER_SCHEMA=true starts this version anyway, at your own risk',
  );
}

/** Recorded migrations of loaded plugins that this version does not know. */
export function findNewerMigrations(
  steps: readonly { owner: string; value: Migration }[],
  recorded: readonly RecordedMigration[],
  dbOf: MigrateDeps['dbOf'],
): readonly RecordedMigration[] {
  const ids = new Set(steps.flatMap(({ value }) => [value.id, ...(value.replaces ?? [])]));
  const series = steps.flatMap(({ value }) => value.idPrefix ?? []);
  const isKnown = (id: string) => ids.has(id) || series.some((start) => id.startsWith(start));
  return recorded.filter(({ owner, id }) => dbOf(owner) !== undefined && !isKnown(id));
}

/** Migrations that are recorded in the database, none where the service has never started on it. */
export async function readRecordedMigrations(
  statements: LeasedConnectionStatementRunner,
  schema: string,
): Promise<readonly RecordedMigration[]> {
  const table = `${quoteIdentifier(schema)}.platform_migrations`;
  const { rows } = await statements.query<{ found: boolean }>(`select to_regclass($1) is not null as found`, [table]);
  if (!rows[0]?.found) return [];
  return (await statements.query<RecordedMigration>(`select owner, id from ${table} order by at, owner, id`)).rows;
}

async function takeLock(lockClient: Client, log: Log): Promise<void> {
  const { rows } = await lockClient.query<{ taken: boolean }>(`select pg_try_advisory_lock(${LOCK}) as taken`);
  if (rows[0]?.taken) return;
  log.info('another process is preparing the tables: waiting for it');
  await lockClient.query(`select pg_advisory_lock(${LOCK})`);
}

function assertUniqueIds(steps: readonly { owner: string; value: Migration }[]): void {
  const seen = new Set<string>();
  for (const { owner, value } of steps) {
    if (seen.has(`${owner}\0${value.id}`)) throw new Error(`${owner} has two migrations called ${value.id}`);
    seen.add(`${owner}\0${value.id}`);
  }
}
