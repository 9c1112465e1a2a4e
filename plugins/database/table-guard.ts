import { type DatabaseGrant, isTableGranted, TABLE_DENIAL_TEXTS } from './grant.ts';
import type { KnexBuilderInternals, QueryBuilderGuard } from './guarded-query-builder.ts';
import type { StatementGrantCheck } from './statement-check.ts';
import type { StatementObservation } from './statement-observation.ts';
import { callStatementObserver } from './statement-observer.ts';

interface TableGuardOptions extends Pick<StatementObservation, 'observed'> {
  readonly name: string;
  readonly grant: DatabaseGrant;
  readonly schema: string;
  readonly deny: (what: string) => Error;
  /** Parses statements of third-party plugins; undefined for core plugins. */
  readonly check: StatementGrantCheck | undefined;
}

interface TableGuard extends QueryBuilderGuard {
  assertReadable(table: string): void;
}

const READ_METHODS: readonly (string | undefined)[] = [undefined, 'select', 'first', 'pluck', 'columnInfo'];

/** Restricts the query builders of `host.db.table` to the grant, whatever tables they name later. */
export function createTableGuard({ name, grant, schema: own, deny, check, observed }: TableGuardOptions): TableGuard {
  const assertReadable = (table: string): void => {
    if (!isTableGranted(grant, table, 'read')) throw deny(TABLE_DENIAL_TEXTS.read(table));
  };
  return {
    assertReadable,
    observed,
    assertAllowed(statement) {
      for (const table of tablesOf(statement)) assertReadable(table);
      const target = tableName(statement._single.table);
      if (!READ_METHODS.includes(statement._method) && !(target && isTableGranted(grant, target, 'write')))
        throw deny(TABLE_DENIAL_TEXTS.write(String(target)));
      const { schema = own } = statement._single;
      if (schema !== own) throw deny(`use the schema ${schema}`);
      if (!grant.sql && statement._statements.some(isRaw)) throw deny('run any statement');
    },
    beforeRun(text) {
      callStatementObserver(name, 'query', text);
      return check?.(text, 'query');
    },
  };
}

const isRaw = ({ type, joinType }: KnexBuilderInternals['_statements'][number]): boolean =>
  joinType === 'raw' || (typeof type === 'string' && type.endsWith('Raw'));

/** Tables that a builder names itself; Knex passes its sub-queries to the guard separately. */
const tablesOf = ({ _single, _statements }: KnexBuilderInternals): readonly string[] =>
  [_single.table, ..._statements.filter(({ grouping }) => grouping === 'join').map(({ table }) => table)].flatMap(
    (table) => tableName(table) ?? [],
  );

function tableName(table: unknown): string | undefined {
  if (table === undefined || typeof table === 'function') return undefined;
  if (typeof table === 'string') return table.split(/\s+as\s+/i, 1)[0]?.trim();
  if (table !== null && typeof table === 'object' && Object.getPrototypeOf(table) === Object.prototype) {
    return Object.values(table).map(String).join(', ');
  }
  // Knex compiles a sub-query separately; anything else is named in the message.
  return '_statements' in (table as object) ? undefined : String(table);
}
