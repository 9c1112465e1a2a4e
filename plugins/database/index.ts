import { afterCommitQueues, type ContributionTo, capabilities, definePlugin, type GrantHolder, VERSION } from '#kernel';
import type { health } from '../server/contract.ts';
import { databaseCapability } from './capability.ts';
import { type Db, dedicatedConnections, migrations, migrator } from './contract.ts';
import { createCursorColumnStreamer } from './cursor.ts';
import { createDedicatedConnections } from './dedicated-connections.ts';
import { createGuardedQueryBuilders } from './guarded-query-builder.ts';
import { createHealthChecks } from './health-checks.ts';
import { createDatabaseConnectionPool } from './managed-pool.ts';
import { runPendingMigrations } from './migrate.ts';
import manifest from './package.json' with { type: 'json' };
import type { DatabaseConfig } from './settings.ts';
import { createLeasedConnectionStatementRunner } from './statement-runner.ts';
import { createUnitsOfWork } from './unit-of-work.ts';
import { createUnrestrictedKnexProvider } from './unrestricted-query-builder.ts';

export default definePlugin<Omit<DatabaseConfig, 'DATA_PATH'>, Pick<DatabaseConfig, 'DATA_PATH'>>({
  manifest,
  register(host) {
    const { config, log } = host;
    const schemas = config.DB_SCHEMAS.length > 0 ? config.DB_SCHEMAS : ['public'];
    const connection = createDatabaseConnectionPool(config, schemas, log);
    const units = createUnitsOfWork(connection.acquire, log);
    const statements = createLeasedConnectionStatementRunner(units);
    const stream = createCursorColumnStreamer(units, config.DB_POOL_MAX, config.DB_POOL_WAIT_TIMEOUT);
    const builders = createGuardedQueryBuilders(units, schemas[0] as string);
    const fullBuilder = createUnrestrictedKnexProvider(units);

    const granted = new Map<string, { readonly db: Db; readonly version: string }>();
    const onBind = ({ name, version, runtime }: GrantHolder, db: Db) =>
      void granted.set(name, { db, version: runtime === 'internal' ? VERSION : version });

    host.define(migrations);
    const parts = { units, statements, stream, builders, fullBuilder, schemas, server: connection, onBind };
    host.contribute(capabilities, databaseCapability(parts));
    host.contribute(afterCommitQueues, units.deferUntilCommit);
    for (const check of createHealthChecks({
      statements,
      connection,
      max: config.DB_POOL_MAX,
      threshold: config.DB_HEALTHCHECK_THRESHOLD,
    })) {
      host.contribute<ContributionTo<typeof health>>('health', check);
    }
    const beforeMigrations: (() => Promise<void>)[] = [];
    const keep = (work: () => Promise<void>) => void beforeMigrations.push(work);
    host.provide(dedicatedConnections, createDedicatedConnections(connection.connectOutsidePool, keep));

    const run = () =>
      runPendingMigrations(host.read(migrations), {
        statements,
        units,
        schemas,
        log,
        dbOf: (plugin) => granted.get(plugin)?.db,
        versionOf: (plugin) => granted.get(plugin)?.version,
        allowNewer: config.DB_ALLOW_NEWER_SCHEMA,
        connect: connection.connectOutsidePool,
      });
    host.provide(migrator, { run });
    host.onMigrate(async () => {
      await connection.open();
      for (const work of beforeMigrations) await work();
      await run();
    });
    host.onStop(connection.close);
  },
});
