import { type Caller, type EventsApi, fail } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import { PRESETS_COLLECTION } from './collections.ts';

interface Deps {
  readonly access: Pick<AccessControl, 'permissions'>;
}

/**
 * App access alone allows presets of the own user. Presets of another user, of a role or of all users need a stored
 * permission, which defines whose presets the caller may write.
 */
export function registerPresetWriteChecks({ access }: Deps, events: EventsApi): void {
  const addRule = (action: 'create' | 'update') =>
    events.onFilter(`presets.${action}`, async (payload, { caller }) => {
      const user = (payload as { user?: unknown }).user;
      if (user === undefined || userKeyOf(user) === caller.user || (await isGranted(caller, action))) return undefined;
      throw fail('FORBIDDEN', 'app access allows presets of the own user only');
    });
  addRule('create');
  addRule('update');

  async function isGranted(caller: Caller, action: 'create' | 'update'): Promise<boolean> {
    const permissions = await access.permissions(caller);
    return (
      permissions.admin || permissions.of(PRESETS_COLLECTION, action).some((one) => !permissions.minimum.includes(one))
    );
  }
}

/** The key of the user that a payload names by its key or by an object with the key. */
const userKeyOf = (user: unknown): unknown =>
  typeof user === 'object' && user !== null ? (user as { id?: unknown }).id : user;
