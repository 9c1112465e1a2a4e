import { checked, type Handler } from './handler.ts';
import type { Kit } from './kit.ts';
import { added, type InitHandler, stateOf } from './state.ts';

export function onInit(kit: Kit, event: string, handler: Handler): () => unknown {
  checked(event, handler);
  const off = added(stateOf(kit.deps).inits, { owner: kit.name, event, handle: handler as InitHandler });
  return kit.scope.add(off);
}

/** Points of the start, in their order (conventions, "Init events"). */
export const STARTING = [
  'app.before',
  'middlewares.before',
  'middlewares.after',
  'routes.before',
  'routes.custom.before',
  'routes.custom.after',
  'routes.after',
  'app.after',
] as const;

/** Tells those who wait for these points, one after the other; what fails is in the log. */
export async function runInits(
  deps: Pick<Kit['deps'], 'log'>,
  events: readonly string[],
  meta: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  for (const event of events) {
    for (const one of stateOf(deps).inits.filter((init) => init.event === event)) {
      try {
        await one.handle({ ...meta, event });
      } catch (error) {
        deps.log.error({ err: error, extension: one.owner, event }, `${one.owner} failed at ${event}`);
      }
    }
  }
}
