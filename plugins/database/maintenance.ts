import type { DatabaseMaintenance } from './contract.ts';
import type { DatabaseConnectionPool } from './managed-pool.ts';
import { createMigrationRecords } from './migration-records.ts';
import { findUnknownMigrations, type OwnedMigration, type VersionOf } from './migration-versions.ts';
import { renderProgramEnvironment } from './program-environment.ts';
import type { LeasedConnectionStatementRunner } from './statement-runner.ts';

interface Deps {
  readonly connection: Pick<DatabaseConnectionPool, 'open' | 'target' | 'hasDatabase'>;
  readonly statements: LeasedConnectionStatementRunner;
  readonly schema: string;
  readonly steps: () => readonly OwnedMigration[];
  readonly versionOf: VersionOf;
}

/** The service `database-maintenance`. */
export const createDatabaseMaintenance = ({
  connection,
  statements,
  schema,
  steps,
  versionOf,
}: Deps): DatabaseMaintenance => ({
  hasDatabase: connection.hasDatabase,
  open: connection.open,
  label: () => connection.target().label,
  programEnvironment: () => renderProgramEnvironment(connection.target().client),
  async migrations() {
    const records = createMigrationRecords((text, params) => statements.query(text, params), schema);
    const recorded = (await connection.hasDatabase()) ? await records.read() : [];
    const known = new Set(recorded.map(({ owner, id }) => `${owner}\0${id}`));
    const all = steps().map(({ owner, value }) => ({ owner, id: value.id }));
    return {
      recorded,
      pending: all.filter(({ owner, id }) => !known.has(`${owner}\0${id}`)),
      newer: findUnknownMigrations(steps(), recorded, versionOf).newer,
      unloaded: recorded.filter(({ owner }) => versionOf(owner) === undefined),
    };
  },
  findNewer: (recorded) => findUnknownMigrations(steps(), recorded, versionOf).newer,
});
