import { type Caller, Failures, fail } from '#kernel';
import { currentAnswerSources } from '../../query/library.ts';
import type { ItemsEngine } from '../contract.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { findWritableCollection } from '../find-collection-and-key.ts';
import { isOutdatedStatementError } from '../outdated-statement.ts';
import { translatePostgresWriteError } from './database-errors.ts';
import { explainConstraintRefusal } from './explain-refusal.ts';
import { findImportErrors, isRowFailure, toRowFailures } from './import-errors.ts';
import { type ImportTask, inUnitOfWork, writeImportRows } from './import-pass.ts';
import { createLevelWrites } from './level-writes.ts';
import { StatementRefusal } from './statement-refusal.ts';

/** How often an import begins again: tables change meanwhile, or another writer takes a key or a value. */
const MAX_ATTEMPTS = 3;

/** Creates the verbs that import rows. */
export const createItemImports = (deps: ItemsEngineDeps): Pick<ItemsEngine, 'checkImport' | 'importRows'> => ({
  checkImport: (caller, name) => assertImportable(deps, caller, name),
  async importRows(caller, name, readBatches, options = {}) {
    await assertImportable(deps, caller, name);
    return runImport({ deps, caller, name, readBatches, options });
  },
});

/**
 * Asserts that the caller may import into the collection, before a row is read.
 * @throws FORBIDDEN without permission to create and to update, and for a system collection where the caller is no admin.
 */
async function assertImportable(deps: ItemsEngineDeps, caller: Caller, name: string): Promise<void> {
  if (caller.share) throw fail('FORBIDDEN', 'visitors of a share only read');
  await deps.access.assertAllowed(caller, 'create', name);
  await deps.access.assertAllowed(caller, 'update', name);
  const { collection } = await findWritableCollection(deps.schema, name, caller);
  if (collection.system && !caller.admin) throw fail('FORBIDDEN', 'only admins import into system collections');
  const { verbs } = collection;
  if (verbs && !(verbs.includes('create') && verbs.includes('update')))
    throw fail('FORBIDDEN', `rows of ${name} cannot be created`);
  if (collection.singleton)
    throw fail('INVALID_PAYLOAD', `${name} holds one row: change it by PATCH in place of an import.`);
}

/** Writes all rows in one unit of work. Where a row is rejected a second pass finds the errors, and is rolled back. */
async function runImport(task: ImportTask): Promise<number> {
  const { deps, caller, name } = task;
  currentAnswerSources()?.markWrite();
  // An unknown field may be a column that was created a moment ago.
  await deps.schema.refresh();
  for (let attempt = 1; ; attempt++) {
    const target = await findWritableCollection(deps.schema, name, caller);
    try {
      return await inUnitOfWork(task, async () => {
        const writes = createLevelWrites(deps, { endsUnit: false });
        let rows = 0;
        for await (const batch of task.readBatches()) {
          await writeImportRows(task, target, writes, batch);
          rows += batch.length;
        }
        return rows;
      });
    } catch (error) {
      const failure = translatePostgresWriteError(error, target.collection);
      if (isOutdatedStatementError(error)) {
        await deps.schema.refresh();
        if (attempt < MAX_ATTEMPTS) continue;
        throw fail('SERVICE_UNAVAILABLE', `${name} is being changed; try again.`, { service: 'database' });
      }
      if (!isRowFailure(failure)) throw failure;
      const found = await findImportErrors(task, target);
      if (found.length > 0) throw new Failures(found);
      // No row is rejected any more: another writer was in the way, or only the commit is rejected.
      if (failure instanceof StatementRefusal && attempt < MAX_ATTEMPTS) continue;
      throw new Failures(toRowFailures(await explainConstraintRefusal(deps, caller, failure)));
    }
  }
}
