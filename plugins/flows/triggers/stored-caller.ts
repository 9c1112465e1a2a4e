import { type Caller, isSystem } from '#kernel';
import type { CallerProvider } from '../../auth/contract.ts';
import { PermanentJobError } from '../../queue/library.ts';

/** A caller as a job keeps it. */
export interface StoredCaller {
  readonly user: string | null;
  readonly client: { readonly ip: string | null; readonly userAgent: string | null; readonly origin: string | null };
  /** The flow runs for no caller. */
  readonly isNone?: true;
}

/** Undefined for a caller whose rights cannot be found again by its user: one of a shared link, or of a role alone. */
export function toStoredCaller(caller: Caller | null): StoredCaller | undefined {
  if (!caller || isSystem(caller))
    return { user: null, client: { ip: null, userAgent: null, origin: null }, isNone: true };
  const { user, role, share, ip = null, userAgent = null, origin = null } = caller;
  if (share || (user === null && role !== null)) return undefined;
  return { user, client: { ip, userAgent, origin } };
}

/** @throws PermanentJobError where the user is gone, or may not act any more. */
export async function readStoredCaller(
  identity: Pick<CallerProvider, 'ofUser' | 'ofPublic'>,
  { user, client, isNone }: StoredCaller,
): Promise<Caller | null> {
  if (isNone) return null;
  try {
    return await (user === null ? identity.ofPublic(client) : identity.ofUser(user, client));
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code === 'INVALID_CREDENTIALS' || code === 'USER_SUSPENDED' || code === 'INVALID_IP')
      throw new PermanentJobError(`the caller may not act any more: ${code}`);
    throw error;
  }
}
