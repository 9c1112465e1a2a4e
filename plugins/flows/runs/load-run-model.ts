import type { ModelClass } from 'objection';
import type { Db } from '../../database/contract.ts';
import type { RunModel } from './run-models.ts';

/** Loads the model of runs, and objection and Knex with it, when runs are read or run in the background for the first time. */
export type LoadRunModel = () => Promise<ModelClass<RunModel>>;

export function createRunModelLoader(db: Pick<Db, 'modelKnex'>): LoadRunModel {
  let loading: Promise<ModelClass<RunModel>> | undefined;
  return () => {
    loading ??= import('./run-models.ts').then(({ bindRunModel }) => bindRunModel(db.modelKnex()));
    return loading;
  };
}
