import type { DoctorCheck, DoctorFinding } from '../doctor/contract.ts';
import type { DatabaseMaintenance } from './contract.ts';
import type { LeasedConnectionStatementRunner } from './statement-runner.ts';

/** Milliseconds by which the clocks of process and database may differ. Tokens and schedules compare times of both. */
const CLOCK_WARNING = 2000;
const CLOCK_FAILURE = 60_000;
/** The part of the server's connections that one process should leave to others. */
const FREE_CONNECTIONS = 0.2;

interface Deps {
  readonly maintenance: DatabaseMaintenance;
  readonly statements: LeasedConnectionStatementRunner;
  readonly schema: string;
  /** DB_POOL_MAX. */
  readonly poolSize: number;
}

interface DatabaseFacts {
  readonly version: string;
  readonly encoding: string;
  readonly mayCreate: boolean;
  readonly unreadable: number;
  readonly now: string;
  readonly connections: number;
}

const FACTS_SQL = `select current_setting('server_version') as version, pg_encoding_to_char(encoding) as encoding,
  has_schema_privilege($1, 'create') as "mayCreate",
  (select count(*)::int from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = to_regnamespace(quote_ident($1))
    and not has_table_privilege(c.oid, 'select')) as unreadable,
  (extract(epoch from clock_timestamp()) * 1000)::text as now, current_setting('max_connections')::int as connections
  from pg_database where datname = current_database()`;

const NO_DATABASE: DoctorFinding = {
  status: 'warn',
  text: 'there is no database yet: the first start creates the embedded one',
  remedy: 'start the service, or name a PostgreSQL of yours in DB_CONNECTION_STRING',
};

/** Connection, version, rights, clock, migrations. Nothing but that there is no database, where a start would create it. */
export const createDatabaseDoctorCheck = (deps: Deps): DoctorCheck => ({
  name: 'database',
  async run() {
    if (!(await deps.maintenance.hasDatabase())) return [NO_DATABASE];
    await deps.maintenance.open();
    const before = Date.now();
    const { rows } = await deps.statements.query<DatabaseFacts>(FACTS_SQL, [deps.schema]);
    const facts = rows[0] as DatabaseFacts;
    const middle = (before + Date.now()) / 2;
    const connected: DoctorFinding = {
      status: 'ok',
      text: `the database ${deps.maintenance.label()} answers: PostgreSQL ${facts.version}`,
    };
    return [
      connected,
      ...checkRights(facts, deps.schema),
      checkClock(Number(facts.now) - middle),
      ...checkServer(facts, deps.poolSize),
      await checkMigrations(deps.maintenance).catch(toUnreadableMigrations),
    ];
  },
});

function checkRights(facts: DatabaseFacts, schema: string): readonly DoctorFinding[] {
  const findings: DoctorFinding[] = [];
  if (!facts.mayCreate)
    findings.push({
      status: 'fail',
      text: `the database user may not create tables in the schema ${schema}`,
      remedy: `grant create on schema ${schema} to the user of the service`,
    });
  if (facts.unreadable > 0)
    findings.push({
      status: 'warn',
      text: `the database user may not read ${facts.unreadable} tables of the schema ${schema}`,
      remedy: 'grant select on those that the service shall serve',
    });
  return findings.length > 0 ? findings : [{ status: 'ok', text: 'the database user has the rights that it needs' }];
}

/** `difference` in milliseconds: positive where the database is ahead. */
function checkClock(difference: number): DoctorFinding {
  const size = Math.abs(difference);
  const text = `the clock of the database is ${(size / 1000).toFixed(1)} s ${difference > 0 ? 'ahead of' : 'behind'} that of this machine`;
  if (size < CLOCK_WARNING) return { status: 'ok', text };
  return {
    status: size < CLOCK_FAILURE ? 'warn' : 'fail',
    text,
    remedy: 'set both clocks by the same time servers (NTP)',
  };
}

function checkServer({ encoding, connections }: DatabaseFacts, poolSize: number): readonly DoctorFinding[] {
  const findings: DoctorFinding[] = [];
  if (encoding !== 'UTF8')
    findings.push({
      status: 'warn',
      text: `the database has the encoding ${encoding}: texts with other characters are refused`,
      remedy: 'move to a database with the encoding UTF8',
    });
  if (poolSize > connections * (1 - FREE_CONNECTIONS))
    findings.push({
      status: 'warn',
      text: `DB_POOL_MAX is ${poolSize}, and the server has ${connections} connections for all its clients`,
      remedy: 'lower DB_POOL_MAX, or raise max_connections of the server',
    });
  return findings;
}

function toUnreadableMigrations(error: Error): DoctorFinding {
  return {
    status: 'fail',
    text: `the tables of the service cannot be read: ${error.message}`,
    remedy: 'connect as the user that owns them, or grant the rights on them to this one',
  };
}

async function checkMigrations(maintenance: DatabaseMaintenance): Promise<DoctorFinding> {
  const { recorded, pending, newer } = await maintenance.migrations();
  if (newer[0])
    return {
      status: 'fail',
      text: `a newer version of ${newer[0].owner} changed the tables (${newer[0].id})`,
      remedy: 'start the newer version, or restore a backup from before it',
    };
  if (pending.length > 0)
    return {
      status: 'warn',
      text: `${pending.length} migrations are pending`,
      remedy: 'run database:migrate; a start does it, too',
    };
  return { status: 'ok', text: `the tables are up to date: ${recorded.length} migrations` };
}
