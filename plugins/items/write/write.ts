import { type Caller, Failure, fail, isSystem } from '#kernel';
import type { PermissionAction } from '../../access/contract.ts';
import { createPoolShareHolder } from '../../database/library.ts';
import { currentAnswerSources } from '../../query/library.ts';
import type { Field } from '../../schema/contract.ts';
import type { ItemsEngine, Key, Payload, WriteCancellation, WrittenRowsAnswerSlot } from '../contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { findWritableCollection } from '../find-collection-and-key.ts';
import { isOutdatedStatementError, MAX_STATEMENT_ATTEMPTS } from '../outdated-statement.ts';
import type { WrittenRowSqlCompiler } from '../read/written-row-sql.ts';
import { filterDatabaseError } from './database-error-event.ts';
import { translatePostgresWriteError } from './database-errors.ts';
import { explainConstraintRefusal, withConstraintName } from './explain-refusal.ts';
import { findKeysByQuery } from './keys-by-query.ts';
import { createLevelWrites, type LevelWrites } from './level-writes.ts';
import { EventFilterRecorder, locateRefusedRow } from './replay-refused-write.ts';
import { keyColumnNames, keyOfPayload, withoutKeyColumns } from './row-key.ts';
import { StatementRefusal } from './statement-refusal.ts';
import type { WrittenRowTextSlot } from './write-statement.ts';

type Writes = Pick<
  ItemsEngine,
  Extract<keyof ItemsEngine, `create${string}` | `update${string}` | `upsert${string}` | `delete${string}`>
>;

/** The write verbs of the service: each one is a unit of work around the verbs of `level-writes.ts`. */
export function createItemWrites(
  deps: ItemsEngineDeps,
  writtenRow: WrittenRowSqlCompiler = async () => undefined,
): Writes {
  const { access, schema } = deps;
  return {
    async createOne(caller, name, payload, { platformValues, answer, ...cancellation } = {}) {
      await assertAllowed(access, caller, name, 'create');
      const entry = platformValues ? { payload, platformValues } : { payload };
      return runUnitOfWork(deps, { caller, name, payloads: [payload], cancellation }, (writes) =>
        withRowAnswer(writtenRow, { caller, name, verb: 'create', answer }, async (row) =>
          first(await writes.create(caller, name, [entry], row)),
        ),
      );
    },
    async createMany(caller, name, payloads, { answer, ...cancellation } = {}) {
      if (payloads.length === 0) return [];
      await assertAllowed(access, caller, name, 'create');
      const entries = payloads.map((payload, at) => ({ payload, path: [at] }));
      return runUnitOfWork(deps, { caller, name, payloads, cancellation }, (writes) =>
        withRowAnswer(writtenRow, { caller, name, verb: 'create', answer, isList: true }, (list) =>
          writes.create(caller, name, entries, list),
        ),
      );
    },
    async updateOne(caller, name, key, payload, { platformValues, answer, ...cancellation } = {}) {
      await assertAllowed(access, caller, name, 'update');
      return runUnitOfWork(deps, { caller, name, payloads: [payload], cancellation }, (writes) =>
        withRowAnswer(writtenRow, { caller, name, verb: 'update', answer }, async (row) =>
          first(await updateByKeys(writes, caller, name, [key], payload, { platformValues, answer: row })),
        ),
      );
    },
    async updateMany(caller, name, keys, payload, cancellation) {
      if (keys.length === 0) return [];
      await assertAllowed(access, caller, name, 'update');
      return runUnitOfWork(deps, { caller, name, payloads: [payload], cancellation }, (writes) =>
        updateByKeys(writes, caller, name, keys, payload),
      );
    },
    async updateEach(caller, name, payloads, cancellation) {
      await assertAllowed(access, caller, name, 'update');
      const { key, schemaSnapshot } = await findWritableCollection(schema, name, caller);
      assertKeys(key, payloads);
      return runUnitOfWork(deps, { caller, name, payloads, cancellation }, async (writes) => {
        const changes = payloads.map((one, at) => ({
          keys: [keyOfPayload(key, one, schemaSnapshot)],
          payload: withoutKeyColumns(key, one),
          path: [at],
        }));
        return (await writes.update(caller, name, changes)).flat();
      });
    },
    async updateByQuery(caller, name, raw, payload, cancellation) {
      // A caller with read permission may learn that no row matches.
      await assertAllowed(access, caller, name, 'update', 'read');
      return runUnitOfWork(deps, { caller, name, payloads: [payload], cancellation }, async (writes) => {
        const keys = await findKeysByQuery(deps, caller, name, raw, { action: 'update' });
        return keys.length === 0 ? [] : updateByKeys(writes, caller, name, keys, payload);
      });
    },
    async upsertSingleton(caller, name, payload, cancellation) {
      await assertAllowed(access, caller, name, 'create', 'update');
      return runUnitOfWork(deps, { caller, name, payloads: [payload], cancellation }, (writes) =>
        upsertRow(deps, writes, caller, name, payload),
      );
    },
    async deleteMany(caller, name, keys, cancellation) {
      if (keys.length === 0) return [];
      await assertAllowed(access, caller, name, 'delete');
      return runUnitOfWork(deps, { caller, name, payloads: [], cancellation }, (writes) =>
        writes.remove(caller, name, keys, keys.length > 1),
      );
    },
    async deleteByQuery(caller, name, raw, cancellation) {
      await assertAllowed(access, caller, name, 'delete', 'read');
      return runUnitOfWork(deps, { caller, name, payloads: [], cancellation }, async (writes) => {
        const keys = await findKeysByQuery(deps, caller, name, raw, { action: 'delete' });
        return keys.length === 0 ? [] : writes.remove(caller, name, keys);
      });
    },
  };
}

/** @throws INVALID_PAYLOAD where a row has no value for a column of its key. */
function assertKeys(key: Field, payloads: readonly Payload[]): void {
  for (const [at, payload] of payloads.entries()) {
    const name = keyColumnNames(key).find((one) => payload[one] === undefined || payload[one] === null);
    if (name !== undefined) throw fail('INVALID_PAYLOAD', `element ${at} has no ${name}`, { path: [at, name] });
  }
}

/**
 * Asserts that the caller has one of the permissions. Every verb checks this first: a caller without any permission
 * must not learn whether the collection exists.
 */
async function assertAllowed(
  access: ItemsEngineDeps['access'],
  caller: Caller,
  name: string,
  ...actions: readonly PermissionAction[]
): Promise<void> {
  if (isSystem(caller)) return;
  // A write by a query also takes the permission to read, which visitors have.
  if (caller.share) throw fail('FORBIDDEN', 'visitors of a share only read');
  const { admin, of } = await access.permissions(caller);
  if (!admin && actions.every((action) => of(name, action).length === 0))
    throw fail('FORBIDDEN', `no ${actions.join(' or ')} permission on ${name}`);
}

interface WriteRequest {
  readonly caller: Caller;
  readonly name: string;
  readonly payloads: readonly Payload[];
  readonly cancellation: WriteCancellation | undefined;
}

/**
 * Runs one verb as a unit of work and translates errors, also those of deferred constraints at the commit. Where tables
 * change meanwhile everything is rolled back and starts again with the new schema snapshot, event filters included.
 */
async function runUnitOfWork<T>(
  deps: ItemsEngineDeps,
  { caller, name, payloads, cancellation = {} }: WriteRequest,
  work: (writes: LevelWrites) => Promise<T>,
): Promise<T> {
  const { db, schema, timeout } = deps;
  currentAnswerSources()?.markWrite();
  const options = {
    share: createPoolShareHolder(name, caller),
    timeout,
    ...(cancellation.signal ? { signal: cancellation.signal } : {}),
  };
  let hasChanged = false;
  for (let attempt = 1; ; attempt++) {
    const { collection, schemaSnapshot } = await findWritableCollection(schema, name, caller);
    // An unknown field may be a column created a moment ago; inside of the unit of work a refresh would be too late.
    if (payloads.some((one) => Object.keys(one).some((field) => !collection.fields.has(field)))) await schema.refresh();
    const since = performance.now();
    const filters = new EventFilterRecorder();
    try {
      const writes = createLevelWrites({ ...deps, events: filters.recording(deps.events) });
      return await db.transaction(() => work(writes), options);
    } catch (error) {
      // The failure ends the outer unit of work as well, and its owner handles it.
      if (db.isInUnitOfWork())
        throw toPlainFailure(withConstraintName(caller, translatePostgresWriteError(error, collection)));
      if (!isOutdatedStatementError(error)) {
        const rest = timeout && Math.max(1, timeout - (performance.now() - since));
        const refusal = translatePostgresWriteError(error, collection);
        const located = await locateRefusedRow(deps, refusal, filters, { ...options, timeout: rest }, work);
        const explained = toPlainFailure(await explainConstraintRefusal(deps, caller, located));
        throw located instanceof StatementRefusal
          ? await filterDatabaseError(deps.events, caller, explained)
          : explained;
      }
      // The write is repeated even where the schema version is the same: tables that were changed and changed back look
      // alike.
      const { version } = await schema.refresh();
      hasChanged ||= version !== schemaSnapshot.version;
      if (attempt < MAX_STATEMENT_ATTEMPTS) continue;
      if (!hasChanged) throw translatePostgresWriteError(error, collection);
      throw fail('SERVICE_UNAVAILABLE', `${name} is being changed; try again.`, { service: 'database' });
    }
  }
}

/** The answer that a write makes itself, of one row or of the list of all rows that it creates. */
interface AnswerRequest {
  readonly caller: Caller;
  readonly name: string;
  readonly verb: 'create' | 'update';
  readonly answer: WrittenRowsAnswerSlot | undefined;
  readonly isList?: boolean;
}

/**
 * Lets the statement of `work` answer its row. An invalid query of the answer is reported when the row is read back
 * after the write.
 */
async function withRowAnswer<T>(
  writtenRow: WrittenRowSqlCompiler,
  { caller, name, verb, answer, isList = false }: AnswerRequest,
  work: (row: WrittenRowTextSlot | undefined) => Promise<T>,
): Promise<T> {
  const { query } = answer ?? {};
  const compiled = query && (await writtenRow(caller, name, { verb, query }).catch(() => undefined));
  if (!answer || !compiled) return work(undefined);
  const row: WrittenRowTextSlot = { ...compiled, isList };
  const written = await work(row);
  if (row.data !== undefined) answer.data = row.data;
  return written;
}

/** Outside of this folder a refusal is an ordinary failure, without the error of PostgreSQL. */
const toPlainFailure = (error: unknown): unknown =>
  error instanceof StatementRefusal ? new Failure(error.code, error.detail, error.extensions) : error;

/** Changes all rows of `keys` by one payload. */
async function updateByKeys(
  writes: LevelWrites,
  caller: Caller,
  name: string,
  keys: readonly unknown[],
  payload: Payload,
  {
    platformValues,
    answer,
  }: { readonly platformValues?: Payload | undefined; readonly answer?: WrittenRowTextSlot | undefined } = {},
): Promise<Key[]> {
  return (
    await writes.update(caller, name, [{ keys, payload, answer, ...(platformValues ? { platformValues } : {}) }])
  ).flat();
}

/** Changes the one row of a singleton, or creates it. */
async function upsertRow(
  deps: ItemsEngineDeps,
  writes: LevelWrites,
  caller: Caller,
  name: string,
  payload: Payload,
): Promise<Key> {
  const findRow = () => findKeysByQuery(deps, caller, name, { limit: 1 }, { action: 'update', visibility: 'any' });
  let [key] = await findRow();
  if (key === undefined) {
    // Where several writers find no row, one creates it; the others wait for the lock and find the row.
    await deps.db.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`singleton ${name}`]);
    [key] = await findRow();
  }
  return first(
    key === undefined
      ? await writes.create(caller, name, [{ payload }])
      : await updateByKeys(writes, caller, name, [key], payload),
  );
}

const first = (keys: readonly Key[]): Key => keys[0] as Key;
