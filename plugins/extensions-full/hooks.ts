import type { ExtensionHandler } from './event-handler-check.ts';
import { addExtensionListener } from './event-listeners.ts';
import type { FullAuthorityContext } from './extension-context.ts';
import type { ExtensionRuntime } from './extension-runtime.ts';
import { addWithRemoveFunction, getFullAuthorityRegistrations } from './hook-registry.ts';
import { addInitHandler } from './init-events.ts';
import { addSchedule } from './schedule.ts';

export type HookFunction = (register: unknown, context: FullAuthorityContext) => unknown;

/** `register` of a hook (conventions, "Hook"). `entry` is its name inside of a bundle. */
export function createHookRegisterFunctions(runtime: ExtensionRuntime, entry?: string) {
  return {
    filter(event: string, handler: ExtensionHandler): void {
      addExtensionListener(runtime, 'filter', event, handler);
      runtime.recordAuthority({ verb: 'may change', object: event });
    },
    action(event: string, handler: ExtensionHandler): void {
      addExtensionListener(runtime, 'action', event, handler);
      runtime.recordAuthority({ verb: 'listens to', object: event });
    },
    init(event: string, handler: ExtensionHandler): void {
      addInitHandler(runtime, event, handler);
    },
    schedule(pattern: string, handler: () => unknown): void {
      if (addSchedule(runtime, entry, pattern, handler))
        runtime.recordAuthority({ verb: 'runs', object: pattern, detail: 'by the clock' });
    },
    embed(position: unknown, code: unknown): void {
      if (position !== 'head' && position !== 'body') {
        runtime.log.warn({ position }, 'something embedded is left out: its place must be head or body');
        return;
      }
      if (code === '' || (typeof code !== 'string' && typeof code !== 'function')) {
        runtime.log.warn({ position }, 'something embedded is left out: it is empty');
        return;
      }
      runtime.undoStack.add(
        addWithRemoveFunction(getFullAuthorityRegistrations(runtime.deps).embeds, {
          owner: runtime.name,
          position,
          code: code as string,
        }),
      );
      runtime.recordAuthority({ verb: 'contributes to', object: `the ${position} of the admin page` });
    },
  };
}
