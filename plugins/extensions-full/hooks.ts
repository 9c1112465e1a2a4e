import type { Context } from './context.ts';
import type { ExtensionRuntime } from './extension-runtime.ts';
import type { Handler } from './handler.ts';
import { addInitHandler } from './init.ts';
import { listen } from './listen.ts';
import { addSchedule } from './schedule.ts';
import { addTo, getFullState } from './state.ts';

export type Hook = (register: unknown, context: Context) => unknown;

/** `register` of a hook (conventions, "Hook"). `entry` is its name inside of a bundle. */
export function createHookRegister(kit: ExtensionRuntime, entry?: string) {
  return {
    filter(event: string, handler: Handler): void {
      listen(kit, 'filter', event, handler);
      kit.recordAuthority({ verb: 'may change', object: event });
    },
    action(event: string, handler: Handler): void {
      listen(kit, 'action', event, handler);
      kit.recordAuthority({ verb: 'listens to', object: event });
    },
    init(event: string, handler: Handler): void {
      addInitHandler(kit, event, handler);
    },
    schedule(pattern: string, handler: () => unknown): void {
      if (addSchedule(kit, entry, pattern, handler))
        kit.recordAuthority({ verb: 'runs', object: pattern, detail: 'by the clock' });
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
      kit.undoStack.add(addTo(getFullState(kit.deps).embeds, { owner: kit.name, position, code: code as string }));
      kit.recordAuthority({ verb: 'contributes to', object: `the ${position} of the admin page` });
    },
  };
}
