import type { LoadRunModel } from './load-run-model.ts';
import type { RunModel, RunStepModel } from './run-models.ts';
import type { RunStatus } from './run-statuses.ts';

/** A run as `GET /flows/<id>/runs` answers it. */
export interface ListedRun {
  readonly id: string;
  readonly status: RunStatus;
  /** When it began; for one that waits, when it was added. */
  readonly started: Date;
  readonly ended: Date | null;
  /** Milliseconds; null while the run is under way. */
  readonly duration: number | null;
  /** The key of the last operation. */
  readonly step: string | null;
  /** What the last operation failed with, without secrets. */
  readonly error: unknown;
  readonly user: string | null;
  /** Id of the row of activity; null where there is none. */
  readonly activity: number | null;
  /** The run that this one repeats. */
  readonly retry_of: string | null;
  /** Until when the run can be started again; null where its flow keeps no triggers. */
  readonly retry_until: Date | null;
}

/** One step as `GET /flows/<id>/runs/<run>` answers it, without secrets. */
export interface ListedStep {
  readonly operation: string;
  readonly key: string;
  readonly status: string;
  readonly started: Date;
  /** Milliseconds. */
  readonly duration: number;
  /** The options as they were rendered. */
  readonly options: unknown;
  readonly output: unknown;
  /** Template paths without a value. */
  readonly missing: readonly string[];
}

export interface RunListOptions {
  readonly flow: string;
  /** All of them by default. */
  readonly statuses?: readonly RunStatus[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface RunList {
  /** Runs of a flow, the latest first, and how many there are. */
  list(options: RunListOptions): Promise<{ readonly runs: readonly ListedRun[]; readonly count: number }>;
  /** One run with its steps; undefined where the flow has none of this id. */
  find(flow: string, run: string): Promise<(ListedRun & { readonly steps: readonly ListedStep[] }) | undefined>;
}

const COLUMNS = [
  'id',
  'status',
  'started',
  'ended',
  'step',
  'error',
  'user',
  'activity',
  'retry_of',
  'trigger_until',
] as const;

const STEP_COLUMNS = ['operation', 'key', 'status', 'started', 'duration', 'options', 'output', 'missing'] as const;

/** Reads runs as a graph of models: runs, and the steps of one. */
export function createRunList(loadRunModel: LoadRunModel): RunList {
  return {
    async list({ flow, statuses, limit, offset }) {
      const query = (await loadRunModel()).query().where('flow', flow);
      if (statuses) query.whereIn('status', statuses);
      const [runs, count] = await Promise.all([
        query
          .clone()
          .select([...COLUMNS])
          .orderBy([{ column: 'started', order: 'desc' }, 'id'])
          .limit(limit)
          .offset(offset),
        query.resultSize(),
      ]);
      return { runs: runs.map(toListedRun), count };
    },
    async find(flow, id) {
      const run = await (await loadRunModel())
        .query()
        .select([...COLUMNS])
        .findOne({ id, flow })
        .withGraphFetched('steps')
        .modifyGraph('steps', (steps) => void steps.select(['run', ...STEP_COLUMNS]).orderBy('position'));
      return run && { ...toListedRun(run), steps: (run.steps ?? []).map(toListedStep) };
    },
  };
}

function toListedRun(run: RunModel): ListedRun {
  const { trigger_until: retry_until, steps: _steps, ...columns } = run.toJSON();
  const { started, ended } = columns;
  return { ...columns, duration: ended && ended.getTime() - started.getTime(), retry_until };
}

function toListedStep(step: RunStepModel): ListedStep {
  const { run: _run, missing, ...columns } = step.toJSON();
  return { ...columns, missing: missing ?? [] };
}
