import type { Knex } from 'knex';
import { type Capability, fail, type Subject } from '#kernel';
import type { Guard } from './builder.ts';
import { type Db, type Share, type Sql, WITHOUT_TIME_LIMIT } from './contract.ts';
import type { StreamRows } from './cursor.ts';
import { type DatabaseGrant, describeGrant, grantSchema, grantWidens } from './grant.ts';
import { noteStatement } from './observe.ts';
import { createStatementCheck, type StatementCheck } from './statement-check.ts';
import type { Statements } from './statements.ts';
import { tableGuard } from './table-guard.ts';
import { createMadeParts, createTemplates, type MadeParts, type Templates } from './template.ts';
import type { Units } from './unit-of-work.ts';
import type { WholeBuilder } from './whole-builder.ts';

interface Parts {
  readonly units: Units;
  readonly statements: Statements;
  readonly stream: StreamRows;
  readonly builders: (table: string, guard: Guard) => Knex.QueryBuilder;
  readonly whole: WholeBuilder;
  readonly schemas: readonly string[];
  readonly server: { readonly version: number };
  /** Is called with each plugin's part of the database: its migrations get the same one. */
  readonly onBind: (plugin: string, db: Db) => void;
}

type RowsArguments = [params?: readonly unknown[], options?: StreamOptions];
type StreamOptions = Parameters<StreamRows>[2];

type Deny = (what: string) => Error;

/** `host.db`: granted tables by builder and by template, any statement and changes of any table where granted. */
export const databaseCapability = (parts: Parts): Capability<DatabaseGrant, Db> => {
  const made = createMadeParts();
  const owned = new Set<string>();
  return {
    name: 'database',
    member: 'db',
    schema: grantSchema,
    bind(grant, subject) {
      const { name, runtime, isPlugin, denied } = subject;
      const deny = (what: string) => {
        denied(`database: ${what}`);
        return fail('CAPABILITY_DENIED', `${name} may not ${what}: its manifest does not grant it (database)`);
      };
      if (isPlugin && runtime === 'full' && (grant.sql || grant.ddl))
        throw deny('run any statement or change any table, which is open to core plugins only');
      for (const table of grant.own ?? []) owned.add(table);
      // What it has by getters stays so.
      const db = Object.assign(createDb(parts, made, grant, subject, deny), { ownedTables: () => owned });
      parts.onBind(name, db);
      return db;
    },
    describe: describeGrant,
    widens: grantWidens,
  };
};

function createDb(
  { units, statements, stream, builders, whole, schemas, server }: Parts,
  made: MadeParts,
  grant: DatabaseGrant,
  { name, runtime }: Subject,
  deny: Deny,
): Omit<Db, 'ownedTables'> {
  const schema = schemas[0] as string;
  const { checkedText, assertPlain, ...templates } = createTemplates({ grant, schema, made, deny });
  const check = runtime === 'internal' || grant.sql ? undefined : createStatementCheck({ grant, schema, deny });
  const guard = tableGuard({ name, grant, schema, deny, check });
  const textOf = createTextOf({ name, checkedText, assertPlain, check });
  const own: Share = { collection: undefined, client: `plugin ${name}`, rank: 'service' };
  const mayChangeTables = grant.ddl === true || Boolean(grant.own?.length || grant.watch?.length);

  async function* checkedStream(text: Promise<string>, ...[params, options]: RowsArguments) {
    yield* stream(await text, params, options, own);
  }

  return {
    ...templates,
    schemas,
    get serverVersion() {
      return server.version;
    },
    table(table) {
      guard.assertReadable(table);
      return builders(table, guard);
    },
    async query(sql, params, options) {
      const text = textOf(sql, 'query');
      return statements.query(typeof text === 'string' ? text : await text, params, options, own);
    },
    async first(sql, params, options) {
      const text = textOf(sql, 'query');
      return statements.first(typeof text === 'string' ? text : await text, params, options, own);
    },
    stream(sql, params, options) {
      const text = textOf(sql, 'query');
      return typeof text === 'string' ? stream(text, params, options, own) : checkedStream(text, params, options);
    },
    async ddl(sql) {
      if (!mayChangeTables) throw deny('change tables');
      const text = await textOf(sql, 'ddl');
      await units.transaction(async () => {
        await statements.query(`${WITHOUT_TIME_LIMIT};\n${text}`);
      }, own);
    },
    transaction: (work, options) => units.transaction(work, options?.share ?? own, options),
    isInside: () => units.isInside(),
    builder() {
      if (!grant.sql || !grant.ddl) throw deny('use any table');
      return whole.builder();
    },
    inside: (builder, work) => whole.inside(builder, work),
    afterCommit(effect) {
      if (!units.defer(effect)) effect();
    },
    answerAfter: (wait) => units.answerAfter(wait),
  };
}

/** The text of a statement to run; a promise of it where the statement is parsed and checked before. */
type TextOf = (sql: Sql, kind: 'query' | 'ddl') => string | Promise<string>;

interface TextSources extends Pick<Templates, 'checkedText' | 'assertPlain'> {
  /** The plugin that runs the statement. */
  readonly name: string;
  readonly check: StatementCheck | undefined;
}

function createTextOf({ name, checkedText, assertPlain, check }: TextSources): TextOf {
  return (sql, kind) => {
    if (typeof sql === 'string') {
      assertPlain();
      noteStatement(name, 'plain', sql);
      return sql;
    }
    const checked = checkedText(sql);
    const { text } = sql;
    noteStatement(name, kind, checked);
    return check ? check(checked, kind).then(() => text) : text;
  };
}
