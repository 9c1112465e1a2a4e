export { findJobCaller, type JobCaller, type JobCallerFinder, toJobCaller } from './job-caller.ts';
export { JobPostponement, PermanentJobError, QueueStop } from './job-errors.ts';
