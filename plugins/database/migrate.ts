import type { Client } from 'pg';
import { fail, type Log, VERSION } from '#kernel';
import { RemediableError } from './connect-error-remedies.ts';
import { type Db, DISABLE_STATEMENT_TIMEOUT_SQL, type RecordedMigration } from './contract.ts';
import { createMigrationRecords, type MigrationRecords } from './migration-records.ts';
import {
  assertLiveVersionsWork,
  findTolerableMigrations,
  type OwnedMigration,
  type VersionOf,
} from './migration-versions.ts';
import type { LeasedConnectionStatementRunner } from './statement-runner.ts';
import type { UnitsOfWork } from './unit-of-work.ts';
import { readLiveVersions } from './version-locks.ts';

/** Key of the advisory lock under which one process at a time runs migrations. Never change it. */
const LOCK = '1952804463, 1';

interface MigrateDeps {
  readonly statements: LeasedConnectionStatementRunner;
  readonly units: UnitsOfWork;
  readonly schemas: readonly string[];
  readonly log: Log;
  /** The `host.db` of a plugin; undefined where the plugin never read it. */
  readonly dbOf: (plugin: string) => Db | undefined;
  readonly versionOf: VersionOf;
  /** DB_ALLOW_NEWER_SCHEMA: starts on tables that a newer version changed. */
  readonly allowNewer: boolean;
  /**
   * A connection outside the pool: in a pool of one, the migrations would wait for the connection that holds the lock.
   */
  readonly connect: () => Promise<Client>;
}

/**
 * Runs every migration that is not recorded yet. They commit together or not at all, so that the version before can be started again
 * after a failure (ADR 73).
 */
export async function runPendingMigrations(steps: readonly OwnedMigration[], deps: MigrateDeps): Promise<void> {
  assertUniqueIds(steps);
  const { statements, units, schemas, log, versionOf } = deps;
  const records = createMigrationRecords((text, params) => statements.query(text, params), schemas[0] as string);
  const lockClient = await deps.connect();
  try {
    await takeLock(lockClient, log);
    const recorded = await records.read();
    if (!deps.allowNewer) tellTolerated(findTolerableMigrations(steps, recorded, versionOf), log);
    const known = new Set(recorded.map(({ owner, id }) => `${owner}\0${id}`));
    const pending = steps.filter(({ owner, value }) => !known.has(`${owner}\0${value.id}`));
    if (pending.length === 0) return;
    assertLiveVersionsWork(pending, await readLiveVersions((text) => statements.query(text)), VERSION);
    await units.transaction(async () => {
      await statements.query(DISABLE_STATEMENT_TIMEOUT_SQL);
      await records.prepare();
      for (const step of pending) await runMigration(step, records, deps);
    });
  } finally {
    // The end of the session releases the lock.
    await lockClient.end();
  }
}

async function runMigration(
  { owner, value }: OwnedMigration,
  records: MigrationRecords,
  { dbOf, versionOf, log }: MigrateDeps,
): Promise<void> {
  const db = dbOf(owner);
  if (!db) throw fail('CAPABILITY_DENIED', `${owner} may not prepare tables: it has no host.db (database)`);
  const { id, worksSince = null } = value;
  try {
    await value.up(db);
  } catch (error) {
    throw describeFailure(owner, id, error);
  }
  await records.insert({ owner, id, version: versionOf(owner) ?? null, worksSince });
  log.debug({ plugin: owner, step: id }, 'tables prepared');
}

function describeFailure(owner: string, id: string, error: unknown): Error {
  const { detail, message, remedy } = error as { detail?: string; message?: string; remedy?: string };
  const safety = 'Nothing of this upgrade was kept, so the version before can be started';
  return new RemediableError(
    `the migration ${id} of ${owner} failed: ${detail ?? message ?? String(error)}`,
    remedy === undefined ? safety : `${remedy}. ${safety}`,
    error,
  );
}

function tellTolerated(migrations: readonly RecordedMigration[], log: Log): void {
  if (migrations.length === 0) return;
  const changes = migrations.map(({ owner, id, version }) => `${owner} ${id} (${version ?? 'unknown version'})`);
  log.info({ changes }, 'a newer version extended the tables, and this version works with them');
}

async function takeLock(lockClient: Client, log: Log): Promise<void> {
  const { rows } = await lockClient.query<{ taken: boolean }>(`select pg_try_advisory_lock(${LOCK}) as taken`);
  if (rows[0]?.taken) return;
  log.info('another process is preparing the tables: waiting for it');
  await lockClient.query(`select pg_advisory_lock(${LOCK})`);
}

function assertUniqueIds(steps: readonly OwnedMigration[]): void {
  const seen = new Set<string>();
  for (const { owner, value } of steps) {
    if (seen.has(`${owner}\0${value.id}`)) throw new Error(`${owner} has two migrations called ${value.id}`);
    seen.add(`${owner}\0${value.id}`);
  }
}
