import type { Knex } from 'knex';
import { type Capability, fail, listsWiden } from '#kernel';
import type { BuilderParts, Guard } from './builder.ts';
import { type Db, WITHOUT_TIME_LIMIT } from './contract.ts';
import type { StreamRows } from './cursor.ts';
import type { Statements } from './statements.ts';
import type { Units } from './unit-of-work.ts';
import type { WholeBuilder } from './whole-builder.ts';

export interface DatabaseGrant {
  readonly own?: readonly string[];
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly sql?: true;
  readonly ddl?: true;
}

interface Parts {
  readonly units: Units;
  readonly statements: Statements;
  readonly stream: StreamRows;
  readonly builders: (table: string, guard: Guard) => Knex.QueryBuilder;
  readonly whole: WholeBuilder;
  readonly schemas: readonly string[];
}

const tables = { type: 'array', items: { type: 'string', minLength: 1 }, uniqueItems: true } as const;
const READING: readonly (string | undefined)[] = [undefined, 'select', 'first', 'pluck', 'columnInfo'];

/** `host.db`: own and written tables by builder, read tables by builder for reading, statements and DDL where granted. */
export const databaseCapability = ({
  units,
  statements,
  stream,
  builders,
  whole,
  schemas,
}: Parts): Capability<DatabaseGrant, Db> => ({
  name: 'database',
  member: 'db',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: { own: tables, read: tables, write: tables, sql: { const: true }, ddl: { const: true } },
  },
  bind(grant, { name }) {
    const deny = (what: string) =>
      fail('CAPABILITY_DENIED', `${name} may not ${what}: its manifest does not grant it (database)`);
    const written = new Set([...(grant.own ?? []), ...(grant.write ?? [])]);
    const readable = new Set([...written, ...(grant.read ?? [])]);

    const guard: Guard = (statement) => {
      for (const table of tablesOf(statement)) if (!readable.has(table)) throw deny(`use the table ${table}`);
      const target = tableName(statement._single.table);
      if (!READING.includes(statement._method) && !(target && written.has(target)))
        throw deny(`write to the table ${target}`);
      const { schema = schemas[0] } = statement._single;
      if (schema !== schemas[0]) throw deny(`use the schema ${schema}`);
      if (!grant.sql && statement._statements.some(isRaw)) throw deny('run statements of its own making');
    };

    return {
      schemas,
      table(table) {
        if (!readable.has(table)) throw deny(`use the table ${table}`);
        return builders(table, guard);
      },
      async query(text, params, options) {
        if (!grant.sql) throw deny('run statements of its own making');
        return statements.query(text, params, options);
      },
      async first(text, params, options) {
        if (!grant.sql) throw deny('run statements of its own making');
        return statements.first(text, params, options);
      },
      stream(text, params, options) {
        if (!grant.sql) throw deny('run statements of its own making');
        return stream(text, params, options);
      },
      async ddl(text) {
        if (!grant.ddl) throw deny('change tables');
        await units.transaction(async () => {
          await statements.query(WITHOUT_TIME_LIMIT);
          await statements.query(text);
        });
      },
      transaction: (work) => units.transaction(work),
      isInside: () => units.isInside(),
      builder() {
        if (!grant.sql || !grant.ddl) throw deny('use any table');
        return whole.builder();
      },
      inside: (builder, work) => whole.inside(builder, work),
      afterCommit(effect) {
        if (!units.defer(effect)) effect();
      },
    };
  },
  describe: (grant) => [
    ...(grant.own?.length ? [`owns ${[...grant.own].sort().join(', ')}`] : []),
    ...(grant.read?.length ? [`reads ${[...grant.read].sort().join(', ')}`] : []),
    ...(grant.write?.length ? [`writes ${[...grant.write].sort().join(', ')}`] : []),
    ...(grant.sql ? ['runs statements of its own making'] : []),
    ...(grant.ddl ? ['changes tables of the database'] : []),
  ],
  widens: (before, after) => listsWiden(before as never, after as never),
});

const isRaw = ({ type, joinType }: BuilderParts['_statements'][number]): boolean =>
  joinType === 'raw' || (typeof type === 'string' && type.endsWith('Raw'));

/** Tables a builder names itself; sub-queries come to the guard on their own. */
const tablesOf = ({ _single, _statements }: BuilderParts): readonly string[] =>
  [_single.table, ..._statements.filter(({ grouping }) => grouping === 'join').map(({ table }) => table)].flatMap(
    (table) => tableName(table) ?? [],
  );

function tableName(table: unknown): string | undefined {
  if (table === undefined || typeof table === 'function') return undefined;
  if (typeof table === 'string') return table.split(/\s+as\s+/i, 1)[0]?.trim();
  if (table !== null && typeof table === 'object' && Object.getPrototypeOf(table) === Object.prototype) {
    return Object.values(table).map(String).join(', ');
  }
  // A sub-query is compiled by itself; anything else is named in the refusal.
  return '_statements' in (table as object) ? undefined : String(table);
}
