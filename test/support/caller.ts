import type { Caller, CallerFields } from '#kernel';
import { mintCaller, mintPublicCaller, mintSystemCaller } from '#kernel/boot';

/** Creates a caller, by default without user, role and rights. `owner` is the plugin that mints it. */
export const createCaller = (fields: Partial<CallerFields> = {}, owner?: string): Caller =>
  mintCaller({ user: null, role: null, admin: false, app: false, ...fields }, owner);

export const publicCaller = mintPublicCaller;

/** Creates a caller that acts as the system, with a reason and the plugin that declares it. */
export const systemCaller = (reason = 'test', owner = 'test@1.0.0'): Caller => mintSystemCaller(owner, reason);
