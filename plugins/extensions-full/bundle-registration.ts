import { registerFullAuthorityEndpoint } from './endpoint.ts';
import type { FullAuthorityContext } from './extension-context.ts';
import type { ExtensionRuntime } from './extension-runtime.ts';
import { createHookRegisterFunctions, type HookFunction } from './hooks.ts';
import { registerFullAuthorityOperation } from './operation.ts';

interface Entry {
  readonly name: string;
  readonly config: unknown;
}

/** Registers the server code of a bundle: lists of `{ name, config }`, each config what a package of its own would export. */
export async function registerFullAuthorityBundle(
  runtime: ExtensionRuntime,
  context: FullAuthorityContext,
  bundle: unknown,
): Promise<void> {
  const { hooks, endpoints, operations } = (bundle ?? {}) as Record<string, unknown>;
  for (const { name, config } of entriesIn('hooks', hooks))
    await registerFullAuthorityHook(runtime, context, config, name);
  for (const { name, config } of entriesIn('endpoints', endpoints))
    await registerFullAuthorityEndpoint(runtime, context, config, name);
  for (const { config } of entriesIn('operations', operations))
    registerFullAuthorityOperation(runtime, context, config);
}

export async function registerFullAuthorityHook(
  runtime: ExtensionRuntime,
  context: FullAuthorityContext,
  hook: unknown,
  entry?: string,
): Promise<void> {
  if (typeof hook !== 'function') throw new TypeError('a hook must export a function (register, context)');
  await (hook as HookFunction)(createHookRegisterFunctions(runtime, entry), context);
}

function entriesIn(kind: string, list: unknown): readonly Entry[] {
  if (list === undefined) return [];
  const isEntry = (one: unknown): one is Entry => typeof (one as Entry | null)?.name === 'string';
  if (!Array.isArray(list) || !list.every(isEntry))
    throw new TypeError(`"${kind}" of a bundle must be a list of { name, config }`);
  return list;
}
