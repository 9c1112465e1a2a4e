import type { Caller } from '#kernel';
import type { Db } from '../../database/contract.ts';
import type { ConversionCheck, SchemaBatch, SchemaBatchResult, SchemaOverview } from '../contract.ts';
import type { SchemaCache } from '../freshness/schema-cache.ts';
import { createConversionCheck } from './conversion-check.ts';
import { createCollection } from './create-collection.ts';
import { createField } from './create-field.ts';
import { createRelation } from './create-relation.ts';
import { toSchemaChangeFailure } from './database-error.ts';
import { deleteCollection } from './delete-collection.ts';
import { deleteField } from './delete-field.ts';
import { deleteRelation } from './delete-relation.ts';
import { renameField } from './rename-field.ts';
import { isDeadlock, runSchemaUnitOfWork } from './schema-unit-of-work.ts';
import { updateCollection } from './update-collection.ts';
import { updateField } from './update-field.ts';
import { updateRelation } from './update-relation.ts';
import { assertAdmin, type SchemaWriteDeps } from './write-deps-and-guards.ts';

/** Rolls back a trial, and carries its result out of the unit of work. */
class TrialEnd extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super('a trial is rolled back');
    this.result = result;
  }
}

/**
 * Runs many changes in one unit of work, whose input are records of a schema snapshot. In a trial the unit is rolled back, no listener
 * runs, and no other process hears of it.
 */
export async function runSchemaBatch<T>(
  deps: SchemaWriteDeps,
  caller: Caller,
  work: (batch: SchemaBatch) => Promise<T>,
  { trial = false }: { readonly trial?: boolean } = {},
): Promise<SchemaBatchResult<T>> {
  assertAdmin(caller);
  if (trial && deps.inUnit()) throw new Error('a trial would roll back the unit of work around it');
  try {
    return await runSchemaUnitOfWork(deps, async () => {
      const statements: string[] = [];
      const conversions: ConversionCheck[] = [];
      const batchDeps = createBatchDeps(deps, statements, trial ? conversions : undefined);
      const result = { value: await work(createBatch(batchDeps, caller)), statements, conversions };
      if (trial) throw new TrialEnd(result);
      return result;
    });
  } catch (error) {
    if (error instanceof TrialEnd) return error.result as SchemaBatchResult<T>;
    throw error;
  }
}

interface BatchDeps extends SchemaWriteDeps {
  readonly cache: SchemaCache & { forget(): void };
}

function createBatchDeps(
  deps: SchemaWriteDeps,
  statements: string[],
  conversions: ConversionCheck[] | undefined,
): BatchDeps {
  const { db } = deps;
  const recordingDb: Db = Object.create(db, {
    ddl: {
      value: (sql: string) => {
        statements.push(sql.replace(/\s+/g, ' ').trim());
        return db.ddl(sql);
      },
    },
  });
  let known: SchemaOverview | undefined;
  const cache = {
    ...deps.cache,
    // Reading the catalogs takes most of the time of a change in a large database.
    snapshot: async () => (known ??= await deps.cache.snapshot()),
    forget: () => {
      known = undefined;
    },
  };
  const own = { ...deps, db: recordingDb, cache, exact: true } as const;
  if (!conversions) return own;
  const events = { filter: async (_names: readonly string[], payload: unknown) => payload, action: () => {} };
  return {
    ...own,
    events: events as SchemaWriteDeps['events'],
    tryConversion: createConversionCheck(db, statements, conversions),
  };
}

/** Changes of which several in a row do not depend on one another: the snapshot before the first of them serves all. */
const INDEPENDENT: ReadonlySet<unknown> = new Set([
  createCollection,
  createField,
  createRelation,
  updateCollection,
  updateField,
  updateRelation,
]);

function createBatch(deps: BatchDeps, caller: Caller): SchemaBatch {
  let before: unknown;
  const change =
    <Rest extends readonly unknown[], T>(work: (deps: SchemaWriteDeps, caller: Caller, ...rest: Rest) => Promise<T>) =>
    async (...rest: Rest): Promise<T> => {
      if (before !== work || !INDEPENDENT.has(work)) deps.cache.forget();
      before = work;
      try {
        return await work(deps, caller, ...rest);
      } catch (error) {
        throw isDeadlock(error) ? error : toSchemaChangeFailure(error);
      }
    };
  return {
    createCollection: change(createCollection),
    updateCollection: change(updateCollection),
    deleteCollection: change(deleteCollection),
    createField: change(createField),
    updateField: change(updateField),
    renameField: change(renameField),
    deleteField: change(deleteField),
    createRelation: change(createRelation),
    updateRelation: change(updateRelation),
    deleteRelation: change(deleteRelation),
    snapshot() {
      deps.cache.forget();
      before = undefined;
      return deps.cache.snapshot();
    },
  };
}
