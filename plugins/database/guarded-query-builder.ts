import { createRequire } from 'node:module';
import type { Knex } from 'knex';
import type { ConnectionLease, UnitsOfWork } from './unit-of-work.ts';

export interface QueryBuilderGuard {
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

/**
 * Creates query builders on one table that run in the current unit of work. Knex is loaded with the first builder: half
 * of its code is for other databases, and most of the service writes its SQL itself.
 */
export function createTableQueryBuilderFactory(
  units: UnitsOfWork,
  schema: string,
): (table: string, guard: QueryBuilderGuard) => Knex.QueryBuilder {
  let Client: BuilderClientClass | undefined;
  const clients = new WeakMap<QueryBuilderGuard, BuilderClient>();
  return (table, guard) => {
    Client ??= createClientClass(units);
    const client = clients.get(guard) ?? new Client(guard);
    clients.set(guard, client);
    return client.queryBuilder().withSchema(schema).table(table);
  };
}

interface DialectClass {
  new (
    config: object,
  ): BuilderClient & {
    queryCompiler(builder: KnexBuilderInternals, formatter: unknown): unknown;
    _query(connection: object, query: { readonly sql: string }): Promise<unknown>;
  };
}

function createClientClass(units: UnitsOfWork): BuilderClientClass {
  const KnexDialect = createRequire(import.meta.url)('knex/lib/dialects/postgres/index.js') as DialectClass;
  const leases = new WeakMap<object, ConnectionLease>();

  return class extends KnexDialect {
    readonly #guard: QueryBuilderGuard;

    constructor(guard: QueryBuilderGuard) {
      super({ client: 'pg', compileSqlOnError: false });
      this.#guard = guard;
    }

    /** Knex calls this for every builder just before it becomes SQL, clones and sub-queries included. */
    override queryCompiler(builder: KnexBuilderInternals, formatter: unknown): unknown {
      this.#guard.assertAllowed(builder);
      return super.queryCompiler(builder, formatter);
    }

    override _query(connection: object, query: { readonly sql: string }): Promise<unknown> {
      const checked = this.#guard.beforeRun(query.sql);
      return checked ? checked.then(() => super._query(connection, query)) : super._query(connection, query);
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
