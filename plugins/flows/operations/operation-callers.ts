import { type Caller, type EventsApi, fail, type IdentityApi } from '#kernel';
import { type AccessControl, PUBLIC_ROLE_ID } from '../../access/contract.ts';
import { isUuid } from '../../database/library.ts';
import type { CallersWithoutListeners } from '../run/callers-without-listeners.ts';

interface Deps {
  readonly identity: Pick<IdentityApi, 'mint'>;
  readonly access: Pick<AccessControl, 'role'>;
  readonly events: Pick<EventsApi, 'withoutExtensionListeners'>;
  readonly withoutListeners: CallersWithoutListeners;
  /** The caller of operations without a user. `isWithoutListeners`: one for writes that trigger nothing. */
  readonly systemCaller: (withoutListeners: boolean) => Caller;
}

/** Runs the work of an operation in the name that its options choose. */
export type RunAsOperation = <T>(
  options: Readonly<Record<string, unknown>>,
  caller: Caller | null,
  work: (caller: Caller) => Promise<T>,
) => Promise<T>;

/**
 * `permissions` of an operation: `$trigger` or nothing: the caller for whom the flow runs; `$full`: no permissions apply; `$public`: the Public
 * role; the id of a role: that role without a user. `emitEvents`, off by default: whether the change triggers flows and hooks of packages.
 */
export function createRunAsOperation({
  identity,
  access,
  events,
  withoutListeners,
  systemCaller,
}: Deps): RunAsOperation {
  async function callerOf(permissions: unknown, caller: Caller | null, isWithoutListeners: boolean): Promise<Caller> {
    if (permissions === undefined || permissions === null || permissions === '' || permissions === '$trigger') {
      if (!caller) return systemCaller(isWithoutListeners);
      return isWithoutListeners ? withoutListeners.add(identity.mint('accountability', caller)) : caller;
    }
    if (permissions === '$full') return systemCaller(isWithoutListeners);
    if (permissions === '$public') return mintRole(null, false, false, isWithoutListeners);
    if (typeof permissions !== 'string' || !isUuid(permissions))
      throw fail('INVALID_PAYLOAD', '"permissions" must be $trigger, $full, $public or the id of a role');
    const flags = await access.role(permissions === PUBLIC_ROLE_ID ? null : permissions);
    if (!flags) throw fail('INVALID_PAYLOAD', 'no role has the id in "permissions"');
    return mintRole(permissions, flags.admin, flags.app, isWithoutListeners);
  }

  function mintRole(role: string | null, admin: boolean, app: boolean, isWithoutListeners: boolean): Caller {
    const minted = identity.mint('accountability', { user: null, role, admin, app: app || admin });
    return isWithoutListeners ? withoutListeners.add(minted) : minted;
  }

  return async (options, caller, work) => {
    const isWithoutListeners = options.emitEvents !== true;
    const acting = await callerOf(options.permissions, caller, isWithoutListeners);
    return isWithoutListeners ? events.withoutExtensionListeners(() => work(acting)) : work(acting);
  };
}
