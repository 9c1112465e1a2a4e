import { type Capability, fail, type GrantHolder } from '#kernel';
import type { CurrentObserver } from '../telemetry/library.ts';
import { type Db, DISABLE_STATEMENT_TIMEOUT_SQL, type PoolShareHolder, type SqlStatementOrText } from './contract.ts';
import type { CursorColumnStreamer } from './cursor.ts';
import { DATABASE_GRANT_SCHEMA, type DatabaseGrant, databaseGrantWidens, describeDatabaseGrant } from './grant.ts';
import type { GuardedQueryBuilders } from './guarded-query-builder.ts';
import {
  createPluginSqlTemplateFunctions,
  createSqlHandleRegistry,
  type PluginSqlTemplateFunctions,
  type SqlHandleRegistry,
} from './sql-template.ts';
import { createStatementGrantCheck, type StatementGrantCheck } from './statement-check.ts';
import { createStatementObservation } from './statement-observation.ts';
import { callStatementObserver } from './statement-observer.ts';
import type { LeasedConnectionStatementRunner } from './statement-runner.ts';
import { createTableGuard } from './table-guard.ts';
import type { UnitsOfWork } from './unit-of-work.ts';
import type { UnrestrictedKnexProvider } from './unrestricted-query-builder.ts';

interface CapabilityDeps {
  readonly units: UnitsOfWork;
  readonly statements: LeasedConnectionStatementRunner;
  readonly stream: CursorColumnStreamer;
  readonly builders: GuardedQueryBuilders;
  readonly fullBuilder: UnrestrictedKnexProvider;
  readonly schemas: readonly string[];
  readonly server: { readonly version: number };
  readonly observer: CurrentObserver;
  /** Runs with the `host.db` of each plugin: its migrations get the same object. */
  readonly onBind: (plugin: GrantHolder, db: Db) => void;
}

type RowsArguments = [params?: readonly unknown[], options?: StreamOptions];
type StreamOptions = Parameters<CursorColumnStreamer>[2];

type Deny = (what: string) => Error;

/**
 * The capability behind `host.db`: builders and templates on granted tables; any statement and any DDL where granted.
 */
export const databaseCapability = (parts: CapabilityDeps): Capability<DatabaseGrant, Db> => {
  const handles = createSqlHandleRegistry();
  const ownedTables = new Set<string>();
  const ownedSchemas = new Set<string>();
  return {
    name: 'database',
    member: 'db',
    schema: DATABASE_GRANT_SCHEMA,
    bind(grant, subject) {
      const { name, runtime, isPlugin, recordDenial } = subject;
      const deny = (what: string) => {
        recordDenial(`database: ${what}`);
        return fail('CAPABILITY_DENIED', `${name} may not ${what}: its manifest does not grant it (database)`);
      };
      if (isPlugin && runtime === 'full' && (grant.sql || grant.ddl || grant.schema))
        throw deny('run any statement or change any table, which is open to core plugins only');
      for (const table of grant.own ?? []) ownedTables.add(table);
      if (grant.schema) ownedSchemas.add(grant.schema);
      // Object.assign adds to the object, so that its getters stay getters.
      const owned = { ownedTables: () => ownedTables, ownedSchemas: () => ownedSchemas };
      const db = Object.assign(createDb(parts, handles, grant, subject, deny), owned);
      parts.onBind(subject, db);
      return db;
    },
    describe: describeDatabaseGrant,
    widens: databaseGrantWidens,
  };
};

function createDb(
  { units, statements, stream, builders, fullBuilder, schemas, server, observer }: CapabilityDeps,
  handles: SqlHandleRegistry,
  grant: DatabaseGrant,
  { name, runtime }: GrantHolder,
  deny: Deny,
): Omit<Db, 'ownedTables' | 'ownedSchemas'> {
  const schema = schemas[0] as string;
  const { checkedText, assertPlainTextAllowed, ...templates } = createPluginSqlTemplateFunctions({
    grant,
    schema,
    handles,
    deny,
  });
  const isUnchecked = grant.sql !== undefined || (runtime === 'internal' && grant.schema === undefined);
  const check = isUnchecked ? undefined : createStatementGrantCheck({ grant, schema, deny });
  const { observed, observedStream } = createStatementObservation(observer, name);
  const guard = createTableGuard({ name, grant, schema, deny, check, observed });
  // Statements of core plugins' templates are checked by test runs.
  const templateCheck = runtime === 'internal' ? undefined : check;
  const resolveText = createTextResolver({ name, checkedText, assertPlainTextAllowed, check, templateCheck });
  const pluginShare: PoolShareHolder = { collection: undefined, client: `plugin ${name}`, rank: 'service' };
  const canChangeTables = grant.ddl === true || Boolean(grant.own?.length || grant.watch?.length);

  const openStream = (text: string, ...[params, options]: RowsArguments) =>
    observedStream(text, stream(text, params, options, pluginShare));
  async function* checkedStream(text: Promise<string>, ...rest: RowsArguments) {
    yield* openStream(await text, ...rest);
  }

  return {
    ...templates,
    schemas,
    get serverVersion() {
      return server.version;
    },
    table(table) {
      guard.assertReadable(table);
      return builders.table(table, guard);
    },
    modelKnex: () => builders.knex(guard),
    async query(sql, params, options) {
      const resolved = resolveText(sql, 'query');
      const text = typeof resolved === 'string' ? resolved : await resolved;
      if (!observer.current) return statements.query(text, params, options, pluginShare);
      return observed(text, () => statements.query(text, params, options, pluginShare));
    },
    async first(sql, params, options) {
      const resolved = resolveText(sql, 'query');
      const text = typeof resolved === 'string' ? resolved : await resolved;
      if (!observer.current) return statements.first(text, params, options, pluginShare);
      return observed(text, () => statements.first(text, params, options, pluginShare));
    },
    stream(sql, params, options) {
      const text = resolveText(sql, 'query');
      return typeof text === 'string' ? openStream(text, params, options) : checkedStream(text, params, options);
    },
    async ddl(sql) {
      if (!canChangeTables) throw deny('change tables');
      const text = await resolveText(sql, 'ddl');
      await units.transaction(async () => {
        await observed(text, () => statements.query(`${DISABLE_STATEMENT_TIMEOUT_SQL};\n${text}`));
      }, pluginShare);
    },
    ownSchema() {
      if (grant.schema === undefined) throw deny('use a schema of its own');
      return grant.schema;
    },
    transaction: (work, options) => units.transaction(work, options?.share ?? pluginShare, options),
    isInUnitOfWork: () => units.isInUnit(),
    builder() {
      if (!grant.sql || !grant.ddl) throw deny('use any table');
      return fullBuilder.builder();
    },
    runInTransaction: (builder, work) => fullBuilder.runInTransaction(builder, work),
    afterCommit(effect) {
      if (!units.deferUntilCommit(effect)) effect();
    },
    answerAfter: (wait) => units.answerAfter(wait),
  };
}

/** Answers the text of a statement to run; a promise where the statement is parsed and checked first. */
type ResolveText = (sql: SqlStatementOrText, kind: 'query' | 'ddl') => string | Promise<string>;

interface TextResolverOptions extends Pick<PluginSqlTemplateFunctions, 'checkedText' | 'assertPlainTextAllowed'> {
  /** The plugin that runs the statement. */
  readonly name: string;
  /** Checks plain text. */
  readonly check: StatementGrantCheck | undefined;
  /** Checks statements that `db.sql` created. */
  readonly templateCheck: StatementGrantCheck | undefined;
}

function createTextResolver({
  name,
  checkedText,
  assertPlainTextAllowed,
  check,
  templateCheck,
}: TextResolverOptions): ResolveText {
  return (sql, kind) => {
    if (typeof sql === 'string') {
      assertPlainTextAllowed();
      callStatementObserver(name, 'plain', sql);
      return check ? check(sql, kind).then(() => sql) : sql;
    }
    const checked = checkedText(sql);
    const { text } = sql;
    callStatementObserver(name, kind, checked);
    return templateCheck ? templateCheck(checked, kind).then(() => text) : text;
  };
}
