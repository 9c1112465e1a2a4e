/** Thrown by the `run` of a queue: the job is a dead letter at once, whatever retries it has left. */
export class PermanentJobError extends Error {
  override readonly name = 'PermanentJobError';
}
