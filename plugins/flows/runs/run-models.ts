import { Model, type ModelClass } from 'objection';
import type { Db } from '../../database/contract.ts';
import type { RunStatus } from './run-statuses.ts';

/** One step of a run, without secrets. */
export class RunStepModel extends Model {
  static override tableName = 'platform_flow_run_steps';
  static override jsonAttributes = ['options', 'output', 'missing'];
  declare run: string;
  declare position: number;
  declare operation: string;
  declare key: string;
  declare status: string;
  declare started: Date;
  declare duration: number;
  declare options: unknown;
  declare output: unknown;
  declare missing: readonly string[] | null;
}

/** A run with its steps. */
export class RunModel extends Model {
  static override tableName = 'platform_flow_runs';
  static override jsonAttributes = ['error'];
  static override relationMappings = {
    steps: {
      relation: Model.HasManyRelation,
      modelClass: RunStepModel,
      join: { from: 'platform_flow_runs.id', to: 'platform_flow_run_steps.run' },
    },
  };
  declare id: string;
  declare flow: string;
  declare status: RunStatus;
  /** When the run began; for one that waits, when it was added. */
  declare started: Date;
  declare ended: Date | null;
  declare step: string | null;
  declare error: unknown;
  declare user: string | null;
  declare activity: number | null;
  declare process: string | null;
  declare queued: boolean;
  declare retry_of: string | null;
  declare trigger: string | null;
  declare trigger_until: Date | null;
  declare steps?: RunStepModel[];
}

export const bindRunModel = (knex: ReturnType<Db['modelKnex']>): ModelClass<RunModel> => RunModel.bindKnex(knex);
