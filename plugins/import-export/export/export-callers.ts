import { type Caller, fail, isSystem } from '#kernel';
import type { CallerProvider } from '../../auth/contract.ts';
import { PermanentJobError } from '../../queue/library.ts';

/** For whom an export runs, as its job stores it. */
export interface StoredCaller {
  readonly kind: 'user' | 'public' | 'system';
  readonly user: string | null;
  readonly client: { readonly ip: string | null; readonly userAgent: string | null; readonly origin: string | null };
}

interface Deps {
  readonly identity: Pick<CallerProvider, 'ofUser' | 'ofPublic'>;
  readonly systemCaller: () => Caller;
}

/** @throws FORBIDDEN for a caller that cannot be found again: a visitor of a share, or a role without a user. */
export function toStoredCaller(caller: Caller): StoredCaller {
  const { user, role, admin, share, ip = null, userAgent = null, origin = null } = caller;
  const client = { ip, userAgent, origin };
  if (isSystem(caller)) return { kind: 'system', user: null, client };
  if (share || (user === null && (role !== null || admin))) throw fail('FORBIDDEN', 'an export runs for a user');
  return { kind: user === null ? 'public' : 'user', user, client };
}

/** Creates the function that finds the caller again, with its permissions of now. It throws PermanentJobError where it may not act. */
export const createFindCaller =
  ({ identity, systemCaller }: Deps) =>
  async ({ kind, user, client }: StoredCaller): Promise<Caller> => {
    if (kind === 'system') return systemCaller();
    try {
      return await (user === null ? identity.ofPublic(client) : identity.ofUser(user, client));
    } catch (error) {
      const { code } = error as { readonly code?: string };
      if (code === 'INVALID_CREDENTIALS' || code === 'USER_SUSPENDED' || code === 'INVALID_IP')
        throw new PermanentJobError(`the caller may not act any more: ${code}`);
      throw error;
    }
  };
