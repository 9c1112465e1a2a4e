import type { FullContext } from './context.ts';
import { addEndpoint } from './endpoint.ts';
import type { ExtensionRuntime } from './extension-runtime.ts';
import { createHookRegister, type HookFunction } from './hooks.ts';
import { addOperation } from './operation.ts';

interface Entry {
  readonly name: string;
  readonly config: unknown;
}

/** Registers the server code of a bundle: lists of `{ name, config }`, each config what a package of its own would export. */
export async function addBundle(runtime: ExtensionRuntime, context: FullContext, bundle: unknown): Promise<void> {
  const { hooks, endpoints, operations } = (bundle ?? {}) as Record<string, unknown>;
  for (const { name, config } of entriesIn('hooks', hooks)) await addHook(runtime, context, config, name);
  for (const { name, config } of entriesIn('endpoints', endpoints)) await addEndpoint(runtime, context, config, name);
  for (const { config } of entriesIn('operations', operations)) addOperation(runtime, context, config);
}

export async function addHook(
  runtime: ExtensionRuntime,
  context: FullContext,
  hook: unknown,
  entry?: string,
): Promise<void> {
  if (typeof hook !== 'function') throw new TypeError('a hook must export a function (register, context)');
  await (hook as HookFunction)(createHookRegister(runtime, entry), context);
}

function entriesIn(kind: string, list: unknown): readonly Entry[] {
  if (list === undefined) return [];
  const isEntry = (one: unknown): one is Entry => typeof (one as Entry | null)?.name === 'string';
  if (!Array.isArray(list) || !list.every(isEntry))
    throw new TypeError(`"${kind}" of a bundle must be a list of { name, config }`);
  return list;
}
