import type { Caller } from '#kernel';
import type { SchemaWrites } from '../contract.ts';
import { runSchemaBatch } from './batch.ts';
import { createCollection } from './create-collection.ts';
import { createField } from './create-field.ts';
import { createRelation } from './create-relation.ts';
import { deleteCollection } from './delete-collection.ts';
import { deleteField } from './delete-field.ts';
import { deleteRelation } from './delete-relation.ts';
import { runSchemaUnitOfWork } from './schema-unit-of-work.ts';
import { updateCollection } from './update-collection.ts';
import { updateField } from './update-field.ts';
import { updateRelation } from './update-relation.ts';
import { assertAdmin, type SchemaWriteDeps } from './write-deps-and-guards.ts';

/** Creates the service `schemaWrites`: every change is for admins only and runs in a unit of work. */
export function createSchemaWrites(deps: SchemaWriteDeps): SchemaWrites {
  const verb =
    <Rest extends readonly unknown[], T>(work: (deps: SchemaWriteDeps, caller: Caller, ...rest: Rest) => Promise<T>) =>
    async (caller: Caller, ...rest: Rest): Promise<T> => {
      assertAdmin(caller);
      return runSchemaUnitOfWork(deps, () => work(deps, caller, ...rest));
    };
  return {
    transaction: (work) => runSchemaUnitOfWork(deps, work),
    batch: (caller, work, options) => runSchemaBatch(deps, caller, work, options),
    createCollection: verb(createCollection),
    updateCollection: verb(updateCollection),
    deleteCollection: verb(deleteCollection),
    createField: verb(createField),
    updateField: verb(updateField),
    deleteField: verb(deleteField),
    createRelation: verb(createRelation),
    updateRelation: verb(updateRelation),
    deleteRelation: verb(deleteRelation),
  };
}
