import type { Log } from '#kernel';
import { createChangeNotificationMigration } from '../../cluster/library.ts';
import type { Db, Migration } from '../../database/contract.ts';
import type { SecretCipher } from '../../secrets/contract.ts';
import { FLOWS_CHANGED_CHANNEL } from '../plan/flow-plans.ts';

const TABLE = 'platform_operation_secrets';

/**
 * The table of secrets, one row for each path in the options of an operation. A secret is written before its operation, in the same
 * transaction, so the foreign key is checked at its end.
 */
export function operationSecretsMigrations(db: Db): readonly Migration[] {
  const table = db.own(TABLE);
  const operations = db.own('platform_operations');
  return [
    {
      id: '2026-11-27-operation-secrets',
      up: () =>
        db.ddl(
          db.sql`create table ${table} (
            operation uuid references ${operations} on delete cascade deferrable initially deferred,
            path text, value text not null, primary key (operation, path))`,
        ),
    },
    createChangeNotificationMigration({
      id: '2026-11-27-announce-operation-secrets',
      name: 'platform_operation_secrets_changed',
      channel: FLOWS_CHANGED_CHANNEL,
      tables: [table],
    }),
  ];
}

/** Secret options of operations as they are stored: encrypted where SECRETS_ENCRYPTION_KEY is set, as JSON otherwise. */
export interface OperationSecrets {
  /** Type of each operation, and the paths of its secrets. */
  find(operations: readonly string[]): Promise<readonly StoredOperation[]>;
  /** Stores secrets, by path, of each operation, in the open unit of work, and removes those at other paths than these and `kept`. */
  put(operations: readonly string[], written: ReadonlyMap<string, unknown>, kept: readonly string[]): Promise<void>;
  /** The stored text as a value; undefined where it was encrypted with another key. */
  open(operation: string, path: string, stored: string): unknown;
}

/** An operation without its options. */
export interface StoredOperation {
  readonly id: string;
  readonly type: string;
  readonly paths: readonly string[];
}

/** What an envelope is bound to: copied to another operation or option it cannot be opened. */
const kindOf = (operation: string, path: string): string => `operation-option:${JSON.stringify([operation, path])}`;

export function createOperationSecrets(
  db: Db,
  secrets: Pick<SecretCipher, 'available' | 'seal' | 'open' | 'isSealed'>,
  log: Pick<Log, 'warn'>,
): OperationSecrets {
  const table = db.own(TABLE);
  const FIND = db.sql`select o.id, o.type, array(select s.path from ${db.read(TABLE)} s where s.operation = o.id) as paths
    from ${db.read('platform_operations')} o where o.id = any($1::uuid[])`;
  const PUT = db.sql`insert into ${table} (operation, path, value)
    select * from unnest($1::uuid[], $2::text[], $3::text[])
    on conflict (operation, path) do update set value = excluded.value`;
  const REMOVE = db.sql`delete from ${table} where operation = any($1::uuid[]) and path <> all($2::text[])`;
  /** Secrets with a logged warning, by what they are bound to. */
  const warned = new Set<string>();
  let hasWarned = false;

  function serialize(operation: string, path: string, value: unknown): string {
    const text = JSON.stringify(value);
    if (secrets.available()) return secrets.seal(kindOf(operation, path), text);
    if (!hasWarned) log.warn('secret options of operations are stored without encryption: set SECRETS_ENCRYPTION_KEY');
    hasWarned = true;
    return text;
  }

  return {
    find: async (operations) => (await db.query<StoredOperation>(FIND, [operations])).rows,
    async put(operations, written, kept) {
      await db.query(REMOVE, [operations, [...written.keys(), ...kept]]);
      const rows = operations.flatMap((operation) =>
        [...written].map(([path, value]) => [operation, path, serialize(operation, path, value)] as const),
      );
      const column = (at: 0 | 1 | 2) => rows.map((row) => row[at]);
      if (rows.length > 0) await db.query(PUT, [column(0), column(1), column(2)]);
    },
    open(operation, path, stored) {
      const kind = kindOf(operation, path);
      const text = secrets.isSealed(stored) ? secrets.open(kind, stored) : stored;
      if (text !== undefined) return JSON.parse(text);
      if (!warned.has(kind)) log.warn({ operation, option: path }, 'a secret option cannot be opened: enter it again');
      warned.add(kind);
      return undefined;
    },
  };
}
