import { type Caller, fail, isSystem } from '#kernel';
import type { CallerProvider } from '../../auth/contract.ts';
import { PermanentJobError } from '../../queue/library.ts';

/** For whom an export runs, as its job stores it: a user, or the Public role. */
export interface StoredCaller {
  readonly user: string | null;
  readonly client: { readonly ip: string | null; readonly userAgent: string | null; readonly origin: string | null };
}

/**
 * What a job stores of the caller; undefined for a caller that cannot be found again: code with full authority that acts
 * as the system, or for a role without a user.
 * @throws FORBIDDEN for a visitor of a share
 */
export function toStoredCaller(caller: Caller): StoredCaller | undefined {
  const { user, role, admin, share, ip = null, userAgent = null, origin = null } = caller;
  if (share) throw fail('FORBIDDEN', 'visitors of a share only read');
  if (isSystem(caller) || (user === null && (role !== null || admin))) return undefined;
  return { user, client: { ip, userAgent, origin } };
}

/** Creates the function that finds the caller again, with its permissions of now. It throws PermanentJobError where it may not act. */
export const createFindCaller =
  (identity: Pick<CallerProvider, 'ofUser' | 'ofPublic'>) =>
  async ({ user, client }: StoredCaller): Promise<Caller> => {
    try {
      return await (user === null ? identity.ofPublic(client) : identity.ofUser(user, client));
    } catch (error) {
      const { code } = error as { readonly code?: string };
      if (code === 'INVALID_CREDENTIALS' || code === 'USER_SUSPENDED' || code === 'INVALID_IP')
        throw new PermanentJobError(`the caller may not act any more: ${code}`);
      throw error;
    }
  };
