import { toAccountability } from './caller-accountability.ts';
import type { FullAuthorityContext } from './extension-context.ts';
import { toFlowRejectData } from './extension-error-mapping.ts';
import type { ExtensionRuntime } from './extension-runtime.ts';

type Options = Readonly<Record<string, unknown>>;
type Handler = (options: Options, context: FullAuthorityContext & Readonly<Record<string, unknown>>) => unknown;

/** Registers an operation for steps of flows (conventions, "Operation, server half"). */
export function registerFullAuthorityOperation(
  runtime: ExtensionRuntime,
  context: FullAuthorityContext,
  operation: unknown,
): void {
  const { id, handler } = (operation ?? {}) as { readonly id?: unknown; readonly handler?: Handler };
  if (typeof id !== 'string' || id === '' || typeof handler !== 'function')
    throw new TypeError('an operation must export { id, handler(options, context) }');
  const members = Object.getOwnPropertyDescriptors(context);
  const off = runtime.deps.operations.register(runtime.name, {
    id,
    async run(options, { data, caller, flow, signal }) {
      const own = { data, flow, signal, accountability: caller && toAccountability(caller) };
      // The context is not spread, because reading `database` loads the query builder.
      try {
        const result = await handler(options, Object.defineProperties(own, members) as never);
        return result === undefined ? null : result;
      } catch (error) {
        throw toFlowRejectData(error);
      }
    },
  });
  runtime.undoStack.add(off);
  runtime.recordAuthority({ verb: 'provides', object: `the operation ${id}` });
}
