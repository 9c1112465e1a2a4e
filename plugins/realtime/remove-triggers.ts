import type { KernelCommand } from '#kernel';
import type { RowFeed } from '../row-feed/contract.ts';

const USAGE = 'usage: realtime remove-triggers';

/** `realtime remove-triggers`: for a service that was killed with realtime on and is started with realtime off. */
export const createRemoveTriggersCommand = (
  rowFeed: Pick<RowFeed, 'removeTriggers'>,
  isEnabled: boolean,
): KernelCommand => ({
  name: 'realtime',
  about: 'remove-triggers: removes the triggers that announce changed rows to subscriptions',
  needs: 'start',
  check(args) {
    if (args.length === 1 && args[0] === 'remove-triggers') return undefined;
    process.stderr.write(`${USAGE}\n`);
    return 1;
  },
  async run() {
    if (isEnabled) {
      process.stderr.write(
        'WEBSOCKETS_ENABLED is true: subscriptions would create the triggers again. Switch it off first.\n',
      );
      return 1;
    }
    process.stdout.write(`${await rowFeed.removeTriggers()} triggers removed\n`);
    return 0;
  },
});
