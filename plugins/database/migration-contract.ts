import { authorities, facet, service } from '#kernel';
import type { Db } from './contract.ts';

/**
 * One migration of a plugin's own tables. Migrations run once, in plugin order, under an advisory lock. Those of one start, or of one
 * plugin that is loaded later, commit together or not at all.
 */
export interface Migration {
  /** Unique within the plugin and never changed again, for example `2026-11-21-users`. */
  readonly id: string;
  /**
   * For migrations whose id is a hash of the tables they create: what all such ids begin with. A recorded id with this
   * prefix that this version does not know is another state of the same tables, and does not stop the start.
   */
  readonly idPrefix?: string;
  /** Ids of migrations of earlier versions that this one replaces: recorded, they do not stop the start. */
  readonly replaces?: readonly string[];
  /**
   * The oldest version that works with the tables as this migration leaves them, such as `0.2.0`: of the service for core plugins,
   * else of the plugin. A migration that only adds names the first version; one that removes something names the version that no
   * longer uses it. Without it no version works with them that does not know the migration: older processes have to be stopped
   * before, and cannot be started afterwards (ADR 73).
   */
  readonly worksSince?: string;
  /** `db` is the contributor's `host.db`: its grant names the tables that the migration may create and alter. */
  up(db: Db): Promise<void>;
}

/**
 * Migrations of plugins. They run before the service serves requests; `Migrator` runs those of plugins that are loaded
 * later.
 */
export const migrations = facet<Migration, readonly { owner: string; value: Migration }[]>('database.migrations', {
  combine: (all) => all,
  describe: () => authorities('changes', ['tables of its own'], 'by migrations'),
});

/** Runs migrations of plugins that were loaded after the start. */
export interface Migrator {
  /**
   * Runs every migration that is not recorded yet, under the lock of all processes.
   * @throws CAPABILITY_DENIED for a migration of a plugin without the capability `database`, and what a step throws
   */
  run(): Promise<void>;
}

/** A row of `platform_migrations`. */
export interface RecordedMigration {
  readonly owner: string;
  readonly id: string;
  /** The version that ran it; null for migrations of versions that did not record it. */
  readonly version: string | null;
  /** The oldest version that works with what it left; null where no version does that does not know it. */
  readonly worksSince: string | null;
}

/** The database for commands, which do not migrate it. Call `open` first. */
export interface DatabaseMaintenance {
  /** False where no database is configured and the embedded one was never created: `open` would create and start it. */
  hasDatabase(): Promise<boolean>;
  /** Connects, where the start has not. @throws an error with `remedy` where the database is not reached */
  open(): Promise<void>;
  /** Name of the database for messages, without a password. */
  label(): string;
  /** Variables by which programs of PostgreSQL connect to the database: `PGHOST`, `PGPASSWORD`, … */
  programEnvironment(): Readonly<Record<string, string>>;
  /**
   * All that a start would run where `hasDatabase` is false; else call `open` first. Migrations that are recorded, that a start would run, and recorded ones of loaded plugins with which this version
   * does not work; `unloaded` are those of no loaded plugin.
   */
  migrations(): Promise<{
    readonly recorded: readonly RecordedMigration[];
    readonly pending: readonly Pick<RecordedMigration, 'owner' | 'id'>[];
    readonly newer: readonly RecordedMigration[];
    readonly unloaded: readonly RecordedMigration[];
  }>;
  /** Those of a list that plugins of this version do not know, and with which they do not work. */
  findNewer(recorded: readonly RecordedMigration[]): readonly RecordedMigration[];
}

/** For commands that look at the database, save it or empty it. */
export const maintenance = service<DatabaseMaintenance>('database-maintenance', { version: '1.0.0', coreOnly: true });

/** For the plugin that loads plugins while the service runs. */
export const migrator = service<Migrator>('migrator', { version: '1.0.0', coreOnly: true });
