import { type Caller, isSystem } from '#kernel';
import { PermanentJobError } from './job-errors.ts';

interface ClientOfCaller {
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly origin: string | null;
}

/** For whom a job runs, as the job stores it: a user, or the Public role. */
export interface JobCaller {
  readonly user: string | null;
  readonly client: ClientOfCaller;
}

/** Finds callers by their users: the service `identity`. */
export interface JobCallerFinder {
  ofUser(id: string, client: ClientOfCaller): Promise<Caller>;
  ofPublic(client: ClientOfCaller): Caller | Promise<Caller>;
}

/**
 * Undefined for a caller whose rights cannot be found again by its user: one of a shared link, the system, and code with full
 * authority that acts for a role or as an admin without a user.
 */
export function toJobCaller(caller: Caller): JobCaller | undefined {
  const { user, role, admin, share, ip = null, userAgent = null, origin = null } = caller;
  if (share || isSystem(caller) || (user === null && (role !== null || admin))) return undefined;
  return { user, client: { ip, userAgent, origin } };
}

/** Finds the caller with its permissions of now. @throws PermanentJobError where the user is gone, or may not act any more. */
export async function findJobCaller(finder: JobCallerFinder, { user, client }: JobCaller): Promise<Caller> {
  try {
    return await (user === null ? finder.ofPublic(client) : finder.ofUser(user, client));
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code === 'INVALID_CREDENTIALS' || code === 'USER_SUSPENDED' || code === 'INVALID_IP')
      throw new PermanentJobError(`the caller may not act any more: ${code}`);
    throw error;
  }
}
