import { createRequire } from 'node:module';
import type { Knex } from 'knex';
import type { StatementObservation } from './statement-observation.ts';
import type { ConnectionLease, UnitsOfWork } from './unit-of-work.ts';

export interface QueryBuilderGuard extends Pick<StatementObservation, 'observed'> {
  /**
   * Runs before a builder is compiled.
   * @throws CAPABILITY_DENIED where it names a table that the grant does not allow
   */
  assertAllowed(statement: KnexBuilderInternals): void;
  /** Runs with the compiled SQL before the statement runs; the statement does not run where the promise rejects. */
  beforeRun(text: string): Promise<void> | undefined;
}

/** The parts of knex's builder that say which tables it touches, and how. */
export interface KnexBuilderInternals {
  readonly _method: string;
  readonly _single: { readonly table?: unknown; readonly schema?: string };
  readonly _statements: readonly {
    readonly grouping?: string;
    readonly type?: unknown;
    readonly joinType?: string;
    readonly table?: unknown;
  }[];
}

interface BuilderClient {
  queryBuilder(): Knex.QueryBuilder;
}
type BuilderClientClass = new (guard: QueryBuilderGuard) => BuilderClient;

/** Query builders of a plugin, held to its grant by its guard. They run in the current unit of work. */
export interface GuardedQueryBuilders {
  /** A builder on one table. */
  table(table: string, guard: QueryBuilderGuard): Knex.QueryBuilder;
  /** A Knex that only builds queries: without `raw`, DDL and transactions. */
  knex(guard: QueryBuilderGuard): Knex;
}

/** Members of a Knex that build no query on a table. */
const REFUSED_KNEX_MEMBERS = ['schema', 'migrate', 'seed', 'transaction', 'transactionProvider', 'batchInsert'];

/** Knex is loaded with the first builder: half of its code is for other databases, and most of the service writes its SQL itself. */
export function createGuardedQueryBuilders(units: UnitsOfWork, schema: string): GuardedQueryBuilders {
  let Client: BuilderClientClass | undefined;
  const clients = new WeakMap<QueryBuilderGuard, BuilderClient>();
  function clientOf(guard: QueryBuilderGuard): BuilderClient {
    Client ??= createClientClass(units, schema);
    const client = clients.get(guard) ?? new Client(guard);
    clients.set(guard, client);
    return client;
  }
  return {
    table: (table, guard) => clientOf(guard).queryBuilder().table(table),
    knex: (guard) => createModelKnex(clientOf(guard)),
  };
}

/** A Knex whose only `raw` text is the name of a column, as objection writes it in the conditions of relations. */
function createModelKnex(client: BuilderClient): Knex {
  const makeKnex = createRequire(import.meta.url)('knex/lib/knex-builder/make-knex.js') as (one: BuilderClient) => Knex;
  const knex = makeKnex(client);
  const refuse = (name: string): never => {
    throw new Error(`the Knex of models has no "${name}": other statements are those of host.db`);
  };
  for (const name of REFUSED_KNEX_MEMBERS) Object.defineProperty(knex, name, { get: () => refuse(name) });
  const { raw } = knex;
  return Object.defineProperty(knex, 'raw', {
    value: (text: string, names: string[]) => (text === '??' ? raw.call(knex, text, names) : refuse('raw')),
  });
}

interface DialectClass {
  new (
    config: object,
  ): BuilderClient & {
    queryCompiler(builder: KnexBuilderInternals, formatter: unknown): unknown;
    _query(connection: object, query: { readonly sql: string }): Promise<unknown>;
  };
}

function createClientClass(units: UnitsOfWork, schema: string): BuilderClientClass {
  const KnexDialect = createRequire(import.meta.url)('knex/lib/dialects/postgres/index.js') as DialectClass;
  const leases = new WeakMap<object, ConnectionLease>();

  return class extends KnexDialect {
    readonly #guard: QueryBuilderGuard;

    constructor(guard: QueryBuilderGuard) {
      super({ client: 'pg', compileSqlOnError: false });
      this.#guard = guard;
    }

    /** Sub-queries are built by this as well. */
    override queryBuilder(): Knex.QueryBuilder {
      return super.queryBuilder().withSchema(schema);
    }

    /** Knex calls this for every builder just before it becomes SQL, clones and sub-queries included. */
    override queryCompiler(builder: KnexBuilderInternals, formatter: unknown): unknown {
      this.#guard.assertAllowed(builder);
      return super.queryCompiler(builder, formatter);
    }

    override _query(connection: object, query: { readonly sql: string }): Promise<unknown> {
      const checked = this.#guard.beforeRun(query.sql);
      const run = () => this.#guard.observed(query.sql, () => super._query(connection, query));
      return checked ? checked.then(run) : run();
    }

    async acquireConnection(): Promise<object> {
      const lease = await units.lease();
      leases.set(lease.client, lease);
      return lease.client;
    }

    async releaseConnection(connection: object): Promise<void> {
      leases.get(connection)?.release();
      leases.delete(connection);
    }

    transaction(): never {
      throw new Error('transactions are units of work: host.db.transaction');
    }
  } as BuilderClientClass;
}
