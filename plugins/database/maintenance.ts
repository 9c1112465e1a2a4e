import type { DatabaseMaintenance, Migration } from './contract.ts';
import type { DatabaseConnectionPool } from './managed-pool.ts';
import { findNewerMigrations, type MigrateDeps, readRecordedMigrations } from './migrate.ts';
import { renderProgramEnvironment } from './program-environment.ts';
import type { LeasedConnectionStatementRunner } from './statement-runner.ts';

interface Deps {
  readonly connection: Pick<DatabaseConnectionPool, 'open' | 'target'>;
  readonly statements: LeasedConnectionStatementRunner;
  readonly schema: string;
  readonly steps: () => readonly { owner: string; value: Migration }[];
  readonly dbOf: MigrateDeps['dbOf'];
}

/** The service `database-maintenance`. */
export const createDatabaseMaintenance = ({
  connection,
  statements,
  schema,
  steps,
  dbOf,
}: Deps): DatabaseMaintenance => ({
  open: connection.open,
  label: () => connection.target().label,
  programEnvironment: () => renderProgramEnvironment(connection.target().client),
  async migrations() {
    const recorded = await readRecordedMigrations(statements, schema);
    const known = new Set(recorded.map(({ owner, id }) => `${owner}\0${id}`));
    const all = steps().map(({ owner, value }) => ({ owner, id: value.id }));
    return {
      recorded,
      pending: all.filter(({ owner, id }) => !known.has(`${owner}\0${id}`)),
      newer: findNewerMigrations(steps(), recorded, dbOf),
      unloaded: recorded.filter(({ owner }) => dbOf(owner) === undefined),
    };
  },
  findNewer: (recorded) => findNewerMigrations(steps(), recorded, dbOf),
});
