import type { JobResult, JobWithMetadata } from 'pg-boss';
import type { CurrentObserver } from '../telemetry/library.ts';
import type { QueuedJob } from './contract.ts';
import { JobPostponement, PermanentJobError } from './job-errors.ts';
import type { CreateJobProgressRecorder } from './job-progress.ts';
import type { PostponeJob } from './postpone-job.ts';
import type { CompleteQueueOptions } from './queue-settings.ts';
import type { RunningJobs } from './running-jobs.ts';

const MAX_RESULT_LENGTH = 64 * 1024;
const MAX_MESSAGE_LENGTH = 2000;

/** What runs of jobs need beside the options of their queue. */
export interface JobRunnerDeps {
  /** The plugin that defines the queue. */
  readonly owner: string;
  readonly running: RunningJobs;
  readonly createProgress: CreateJobProgressRecorder;
  readonly postpone: PostponeJob;
  readonly observer: CurrentObserver;
}

/** What pg-boss stores of a run: that it completed, that it failed and may be retried, or that it is a dead letter. */
type RunResult = JobResult<Record<string, unknown>>;

/** Creates the function that runs one job of a queue. It never rejects. */
export function createJobRunner<Data>(
  options: CompleteQueueOptions<Data>,
  { owner, running, createProgress, postpone, observer }: JobRunnerDeps,
) {
  const { name, log } = options;

  function failed(job: JobWithMetadata<Data>, error: unknown): RunResult {
    const message = (error instanceof Error ? error.message : String(error)).slice(0, MAX_MESSAGE_LENGTH);
    const isLast = error instanceof PermanentJobError || job.retryCount >= job.retryLimit;
    const about = { err: error, queue: name, job: job.id, attempt: job.retryCount + 1 };
    if (isLast) log.error(about, 'a job failed and is not retried: an admin can retry it');
    else log.warn(about, 'a job failed and is retried');
    return { id: job.id, status: isLast ? 'deadletter' : 'failed', output: { message } };
  }

  /** Runs a job through the observers. A postponed run is no failed one. */
  async function observed(job: QueuedJob<Data>): Promise<unknown> {
    if (!observer.current) return options.run(job);
    let postponement: JobPostponement | undefined;
    const result = await observer.current.run({ kind: 'job', owner, name }, async () => {
      try {
        return await options.run(job);
      } catch (error) {
        if (!(error instanceof JobPostponement)) throw error;
        postponement = error;
      }
    });
    if (postponement) throw postponement;
    return result;
  }

  return async (job: JobWithMetadata<Data>): Promise<RunResult> => {
    const progress = createProgress(job.id);
    try {
      const result = await running.run(name, job.id, job.signal, (signal) =>
        observed({
          id: job.id,
          data: job.data,
          attempt: job.retryCount + 1,
          signal,
          progress: progress.record,
        }),
      );
      return { id: job.id, status: 'completed', output: toStoredResult(result) };
    } catch (error) {
      if (!(error instanceof JobPostponement)) return failed(job, error);
      return await postpone(job, error.until).catch((failure) => failed(job, failure));
    } finally {
      await progress.end();
    }
  };
}

/** The result in the form in which it is stored. @throws RangeError for a result of more than 64 kB. */
function toStoredResult(result: unknown): Record<string, unknown> {
  if (result === undefined) return {};
  const text = JSON.stringify(result) ?? 'null';
  if (text.length > MAX_RESULT_LENGTH)
    throw new RangeError(
      `The result of a job has ${text.length} characters of JSON; at most ${MAX_RESULT_LENGTH} are kept.`,
    );
  return { result: JSON.parse(text) };
}
