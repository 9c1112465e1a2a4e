import { fail, type KernelCommand } from '#kernel';
import { PERMISSIONS_CHANGED_CHANNEL } from '../access/contract.ts';
import type { InterProcessBus } from '../cluster/contract.ts';
import type { Route } from '../http/contract.ts';
import { type RowChanges, SCHEMA_CHANNEL } from '../schema/contract.ts';
import { CACHE_CLEAR_CHANNEL } from './contract.ts';

const USAGE = 'usage: cache clear | cache remove-triggers';

type Bus = Pick<InterProcessBus, 'publish' | 'waitForConfirmation'>;

/** Makes every process forget its answers, permissions and roles, and read the schema again. Resolves when all have done so. */
export async function clearCaches(bus: Bus): Promise<void> {
  for (const channel of [CACHE_CLEAR_CHANNEL, PERMISSIONS_CHANGED_CHANNEL, SCHEMA_CHANNEL])
    await bus.publish(channel, null);
  await bus.waitForConfirmation();
}

/** `POST /utils/cache/clear` (specification, "Utilities"). */
export const clearCachesRoute = (bus: Bus): Route => ({
  method: 'POST',
  path: '/utils/cache/clear',
  description: {
    summary: 'Clears the caches of answers, permissions and the schema in all processes.',
    access: 'admin',
    answers: { 200: {} },
  },
  async handle(ctx) {
    if (!ctx.state.caller.admin) throw fail('FORBIDDEN', 'only admins may clear the caches');
    await clearCaches(bus);
    ctx.status = 200;
    ctx.body = '';
  },
});

interface CommandDeps {
  readonly bus: Bus;
  readonly rowChanges: Pick<RowChanges, 'remove'>;
  readonly isEnabled: boolean;
}

/** `cache clear` and `cache remove-triggers`. */
export const cacheCommand = ({ bus, rowChanges, isEnabled }: CommandDeps): KernelCommand => ({
  name: 'cache',
  about:
    'clear: clears the caches of all processes; remove-triggers: removes the triggers that the response cache put on tables',
  needs: 'start',
  check([verb, ...others]) {
    if (others.length === 0 && (verb === 'clear' || verb === 'remove-triggers')) return undefined;
    process.stderr.write(`${USAGE}\n`);
    return 1;
  },
  async run([verb]) {
    if (verb === 'clear') {
      await clearCaches(bus);
      process.stdout.write('all processes have cleared their caches\n');
      return 0;
    }
    if (isEnabled) {
      process.stderr.write('CACHE_ENABLED is true: the cache would create the triggers again. Switch it off first.\n');
      return 1;
    }
    process.stdout.write(`${await rowChanges.remove()} triggers removed\n`);
    return 0;
  },
});
