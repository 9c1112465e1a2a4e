import type { DiscoveredExtension, LoadedExtension } from '../extensions/contract.ts';
import { LoadFailure } from '../extensions/library.ts';
import { registerFullAuthorityBundle, registerFullAuthorityHook } from './bundle-registration.ts';
import { endpointName, registerFullAuthorityEndpoint } from './endpoint.ts';
import { createFullAuthorityContext } from './extension-context.ts';
import { createExtensionRuntime } from './extension-runtime.ts';
import type { FullAuthorityDeps } from './injected-services.ts';
import { importExtensionEntry, unwrapDefaultExport } from './module.ts';
import { registerFullAuthorityOperation } from './operation.ts';
import { createUndoStack } from './undo-stack.ts';

export type FullAuthorityLoadPhase = 'hooks' | 'endpoints' | 'operations' | 'bundles';

/** Milliseconds that a register function may take. */
const DEADLINE = 10_000;

/**
 * Loads one extension with full authority in its phase of the load. If the extension fails, nothing of it stays registered, not
 * even what its code adds later.
 * @throws LoadFailure ENTRYPOINT_NOT_FOUND, REGISTRATION_FAILED, ROUTE_COLLISION
 */
export async function loadFullAuthorityExtension(
  extension: DiscoveredExtension,
  deps: FullAuthorityDeps,
  phase: FullAuthorityLoadPhase,
  { deadline = DEADLINE }: { readonly deadline?: number } = {},
): Promise<LoadedExtension> {
  const module = await importExtensionEntry(extension);
  const undoStack = createUndoStack();
  const filters: string[] = [];
  try {
    const runtime = createExtensionRuntime(extension, deps, undoStack, filters);
    const context = createFullAuthorityContext(runtime);
    const { hooks, endpoints, operations } = module;
    const isBundle = [hooks, endpoints, operations].some((part) => part !== undefined);
    const register = {
      hooks: () => registerFullAuthorityHook(runtime, context, unwrapDefaultExport(module)),
      endpoints: () =>
        registerFullAuthorityEndpoint(runtime, context, unwrapDefaultExport(module), endpointName(extension)),
      operations: async () => registerFullAuthorityOperation(runtime, context, unwrapDefaultExport(module)),
      bundles: () => registerFullAuthorityBundle(runtime, context, isBundle ? module : unwrapDefaultExport(module)),
    }[phase];
    await withDeadline(register(), deadline);
  } catch (error) {
    await undoStack
      .close()
      .catch((failure) => deps.log.error({ err: failure, extension: extension.name }, 'undoing failed'));
    throw error instanceof LoadFailure
      ? error
      : new LoadFailure('REGISTRATION_FAILED', error instanceof Error ? error.message : String(error), {
          cause: error,
        });
  }
  return {
    ...(extension.manifest?.entries
      ? { entries: extension.manifest.entries.map(({ name, type }) => ({ name, type, status: 'loaded' })) }
      : {}),
    filters,
    remove: () => undoStack.close(),
  };
}

async function withDeadline(work: Promise<void>, longest: number): Promise<void> {
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
