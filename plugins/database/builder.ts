import { createRequire } from 'node:module';
import type { Knex } from 'knex';
import type { Lease, UnitsOfWork } from './unit-of-work.ts';

export interface BuilderGuard {
  /** Throws where the builder, which is about to be compiled, names what it may not. */
  assertAllowed(statement: BuilderParts): void;
  /** Is called with the compiled text; a promise that rejects keeps it from running. */
  beforeRun(text: string): Promise<void> | undefined;
}

/** The parts of knex's builder that say which tables it touches, and how. */
export interface BuilderParts {
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
type BuilderClientClass = new (guard: BuilderGuard) => BuilderClient;

/**
 * Makes builders on one table that run in the current unit of work. Knex is loaded with the first of them: half of what
 * it needs is for other databases' sake, and most of the service writes its statements itself.
 */
export function createBuilders(
  units: UnitsOfWork,
  schema: string,
): (table: string, guard: BuilderGuard) => Knex.QueryBuilder {
  let Client: BuilderClientClass | undefined;
  const clients = new WeakMap<BuilderGuard, BuilderClient>();
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
    queryCompiler(builder: BuilderParts, formatter: unknown): unknown;
    _query(connection: object, query: { readonly sql: string }): Promise<unknown>;
  };
}

function createClientClass(units: UnitsOfWork): BuilderClientClass {
  const KnexDialect = createRequire(import.meta.url)('knex/lib/dialects/postgres/index.js') as DialectClass;
  const leases = new WeakMap<object, Lease>();

  return class extends KnexDialect {
    readonly #guard: BuilderGuard;

    constructor(guard: BuilderGuard) {
      super({ client: 'pg', compileSqlOnError: false });
      this.#guard = guard;
    }

    /** Every builder passes here just before it becomes SQL, clones and sub-queries too. */
    override queryCompiler(builder: BuilderParts, formatter: unknown): unknown {
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
