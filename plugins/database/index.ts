import {
  afterCommitQueues,
  type ContributionTo,
  capabilities,
  commands,
  definePlugin,
  type GrantHolder,
  VERSION,
} from '#kernel';
import type { doctorChecks } from '../doctor/contract.ts';
import type { MetricSource } from '../metrics/contract.ts';
import type { health } from '../server/contract.ts';
import { followObserver } from '../telemetry/library.ts';
import { databaseCapability } from './capability.ts';
import { createDatabaseCommands } from './commands.ts';
import { type Db, databaseObservers, dedicatedConnections, maintenance, migrations, migrator } from './contract.ts';
import { createCursorColumnStreamer } from './cursor.ts';
import { createDedicatedConnections } from './dedicated-connections.ts';
import { createDatabaseDoctorCheck } from './doctor-check.ts';
import { createGuardedQueryBuilders } from './guarded-query-builder.ts';
import { createHealthChecks } from './health-checks.ts';
import { createDatabaseMaintenance } from './maintenance.ts';
import { createDatabaseConnectionPool } from './managed-pool.ts';
import { createPoolMetricSource } from './metric-source.ts';
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

    const observer = followObserver(host, databaseObservers);

    host.define(migrations);
    const parts = { units, statements, stream, builders, fullBuilder, schemas, server: connection, observer, onBind };
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
    host.contribute<MetricSource>('metrics.sources', createPoolMetricSource(connection.slots, config.DB_POOL_MAX));
    const beforeMigrations: (() => Promise<void>)[] = [];
    const keep = (work: () => Promise<void>) => void beforeMigrations.push(work);
    host.provide(dedicatedConnections, createDedicatedConnections(connection.connectOutsidePool, keep));

    const versionOf = (plugin: string) => granted.get(plugin)?.version;
    const steps = () => host.read(migrations);
    const run = () =>
      runPendingMigrations(steps(), {
        statements,
        units,
        schemas,
        log,
        dbOf: (plugin) => granted.get(plugin)?.db,
        versionOf,
        allowNewer: config.DB_ALLOW_NEWER_SCHEMA,
        connect: connection.connectOutsidePool,
      });
    host.provide(migrator, { run });
    const schema = schemas[0] as string;
    const looks = createDatabaseMaintenance({ connection, statements, schema, steps, versionOf });
    host.provide(maintenance, looks);
    host.contribute<ContributionTo<typeof doctorChecks>>(
      'doctor.checks',
      createDatabaseDoctorCheck({ maintenance: looks, statements, schema, poolSize: config.DB_POOL_MAX }),
    );
    for (const command of createDatabaseCommands(looks, connection)) host.contribute(commands, command);
    host.onMigrate(async () => {
      await connection.open();
      for (const work of beforeMigrations) await work();
      await run();
    });
    host.onStop(connection.close);
  },
});
