import type { Found, Loaded } from '../extensions/contract.ts';
import { LoadFailure } from '../extensions/library.ts';
import { addBundle, addHook } from './bundle.ts';
import { createContext } from './context.ts';
import type { FullDeps } from './deps.ts';
import { addEndpoint, endpointName } from './endpoint.ts';
import { createKit } from './kit.ts';
import { exported, loadModule } from './module.ts';
import { addOperation } from './operation.ts';
import { createScope } from './scope.ts';

export type Phase = 'hooks' | 'endpoints' | 'operations' | 'bundles';

/** Milliseconds that a register function may take. */
const LONGEST = 10_000;

/**
 * Loads one extension with full authority in its phase of the load. LoadFailure ENTRYPOINT_NOT_FOUND, REGISTRATION_FAILED
 * and what the mounts say; nothing of one that failed is left behind, also not what its code adds later.
 */
export async function loadFull(
  found: Found,
  deps: FullDeps,
  phase: Phase,
  { longest = LONGEST }: { readonly longest?: number } = {},
): Promise<Loaded> {
  const module = await loadModule(found);
  const scope = createScope();
  const filters: string[] = [];
  try {
    const kit = createKit(found, deps, scope, filters);
    const context = createContext(kit);
    const { hooks, endpoints, operations } = module;
    const isBundle = [hooks, endpoints, operations].some((part) => part !== undefined);
    const register = {
      hooks: () => addHook(kit, context, exported(module)),
      endpoints: () => addEndpoint(kit, context, exported(module), endpointName(found)),
      operations: async () => addOperation(kit, context, exported(module)),
      bundles: () => addBundle(kit, context, isBundle ? module : exported(module)),
    }[phase];
    await inTime(register(), longest);
  } catch (error) {
    await scope.close().catch((failure) => deps.log.error({ err: failure, extension: found.name }, 'undoing failed'));
    throw error instanceof LoadFailure
      ? error
      : new LoadFailure('REGISTRATION_FAILED', error instanceof Error ? error.message : String(error), {
          cause: error,
        });
  }
  return {
    ...(found.manifest?.entries
      ? { entries: found.manifest.entries.map(({ name, type }) => ({ name, type, status: 'loaded' })) }
      : {}),
    filters,
    remove: () => scope.close(),
  };
}

async function inTime(work: Promise<void>, longest: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    const late = new LoadFailure('REGISTRATION_FAILED', `its register function did not end within ${longest / 1000} s`);
    timer = setTimeout(() => reject(late), longest);
  });
  try {
    await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
