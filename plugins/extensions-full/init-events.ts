import { assertHandler, type ExtensionHandler } from './event-handler-check.ts';
import type { ExtensionRuntime } from './extension-runtime.ts';
import { addWithRemoveFunction, getFullAuthorityRegistrations, type InitHandler } from './hook-registry.ts';

export function addInitHandler(runtime: ExtensionRuntime, event: string, handler: ExtensionHandler): () => unknown {
  assertHandler(event, handler);
  const off = addWithRemoveFunction(getFullAuthorityRegistrations(runtime.deps).inits, {
    owner: runtime.name,
    event,
    handle: handler as InitHandler,
  });
  return runtime.undoStack.add(off);
}

/** Init events of the command line, with `program`; they come before those of the service (conventions, "Init events"). */
export const COMMAND_INIT_EVENTS = ['cli.before', 'cli.after'] as const;

/** Init events of the service, in their order. */
export const SERVICE_INIT_EVENTS = [
  'app.before',
  'middlewares.before',
  'middlewares.after',
  'routes.before',
  'routes.custom.before',
  'routes.custom.after',
  'routes.after',
  'app.after',
] as const;

export const hasInitHandlers = (deps: Pick<ExtensionRuntime['deps'], 'log'>, events: readonly string[]): boolean =>
  getFullAuthorityRegistrations(deps).inits.some(({ event }) => events.includes(event));

/** Calls the init handlers of these events one after the other, for all of them after the first load of extensions; failures are logged. */
export async function runInitHandlers(
  deps: Pick<ExtensionRuntime['deps'], 'log'>,
  events: readonly string[],
  meta: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  for (const event of events) {
    for (const one of getFullAuthorityRegistrations(deps).inits.filter((init) => init.event === event)) {
      try {
        await one.handle({ ...meta, event });
      } catch (error) {
        deps.log.error({ err: error, extension: one.owner, event }, `${one.owner} failed at ${event}`);
      }
    }
  }
}
