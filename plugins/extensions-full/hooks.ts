import type { Context } from './context.ts';
import type { Handler } from './handler.ts';
import { onInit } from './init.ts';
import type { Kit } from './kit.ts';
import { listen } from './listen.ts';
import { schedule } from './schedule.ts';
import { added, stateOf } from './state.ts';

export type Hook = (register: unknown, context: Context) => unknown;

/** `register` of a hook (conventions, "Hook"). `entry` is its name inside of a bundle. */
export function hookRegister(kit: Kit, entry?: string) {
  return {
    filter(event: string, handler: Handler): void {
      listen(kit, 'filter', event, handler);
      kit.adds({ verb: 'may change', object: event });
    },
    action(event: string, handler: Handler): void {
      listen(kit, 'action', event, handler);
      kit.adds({ verb: 'listens to', object: event });
    },
    init(event: string, handler: Handler): void {
      onInit(kit, event, handler);
    },
    schedule(pattern: string, handler: () => unknown): void {
      if (schedule(kit, entry, pattern, handler)) kit.adds({ verb: 'runs', object: pattern, detail: 'by the clock' });
    },
    embed(position: unknown, code: unknown): void {
      if (position !== 'head' && position !== 'body') {
        kit.log.warn({ position }, 'something embedded is left out: its place must be head or body');
        return;
      }
      if (code === '' || (typeof code !== 'string' && typeof code !== 'function')) {
        kit.log.warn({ position }, 'something embedded is left out: it is empty');
        return;
      }
      kit.scope.add(added(stateOf(kit.deps).embeds, { owner: kit.name, position, code: code as string }));
      kit.adds({ verb: 'contributes to', object: `the ${position} of the admin page` });
    },
  };
}
