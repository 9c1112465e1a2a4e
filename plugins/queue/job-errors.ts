/** Thrown by the `run` of a queue: the job is a dead letter at once, whatever retries it has left. */
export class PermanentJobError extends Error {
  override readonly name = 'PermanentJobError';
}

/**
 * Thrown by the `run` of a queue: the job waits until a time and runs again then, under the same id. It has not failed, and has as many
 * retries left as before.
 */
export class JobPostponement extends Error {
  override readonly name = 'JobPostponement';
  readonly until: Date;

  constructor(until: Date) {
    super(`The job runs again at ${until.toISOString()}.`);
    this.until = until;
  }
}

/** The reason of a job's signal where the service or the queue stops: the job runs again elsewhere. */
export class QueueStop extends Error {
  override readonly name = 'QueueStop';
}
