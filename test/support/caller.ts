import type { Caller, CallerFields } from '#kernel';
import { mintCaller, mintPublicCaller, mintSystemCaller } from '#kernel/boot';

/** A caller as a plugin with `identity` mints one; without fields a user without rights. */
export const createCaller = (fields: Partial<CallerFields> = {}, owner?: string): Caller =>
  mintCaller({ user: null, role: null, admin: false, app: false, ...fields }, owner);

export const publicCaller = mintPublicCaller;

/** Acts without a user's permissions. */
export const systemCaller = (reason = 'test', owner = 'test@1.0.0'): Caller => mintSystemCaller(owner, reason);
