import { type Caller, isSystem } from '#kernel';
import { findJobCaller, type JobCaller, type JobCallerFinder, toJobCaller } from '../../queue/library.ts';

/** A caller as the job of a run keeps it. */
export interface StoredCaller extends JobCaller {
  /** The flow runs for no caller. */
  readonly isNone?: true;
}

/** Undefined for a caller whose rights cannot be found again by its user: one of a shared link, or of a role alone. */
export const toStoredCaller = (caller: Caller | null): StoredCaller | undefined =>
  caller && !isSystem(caller)
    ? toJobCaller(caller)
    : { user: null, client: { ip: null, userAgent: null, origin: null }, isNone: true };

/** @throws PermanentJobError where the user is gone, or may not act any more. */
export const readStoredCaller = async (finder: JobCallerFinder, stored: StoredCaller): Promise<Caller | null> =>
  stored.isNone ? null : findJobCaller(finder, stored);
