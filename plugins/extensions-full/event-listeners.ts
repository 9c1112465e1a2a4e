import type { EventMeta } from '#kernel';
import { contextOfEvent } from '../http/library.ts';
import { callNotFoundListener } from './compat/not-found-listener.ts';
import { assertHandler, type ExtensionHandler } from './event-handler-check.ts';
import { toServiceFailure } from './extension-error-mapping.ts';
import { createEventContext, type ExtensionRuntime } from './extension-runtime.ts';

type ListenerKind = 'filter' | 'action';
type Meta = Readonly<Record<string, unknown>>;
type Call = (...args: unknown[]) => unknown;

/**
 * Callers are internal; extensions see them as `accountability`. Requests and responses are those of Node, since the body may have
 * been read, or the answer sent.
 */
function toListenerMeta({ caller: _caller, ...meta }: EventMeta): Meta {
  const [request, response, req] = [meta.request, meta.response, meta.req].map(contextOfEvent);
  return {
    ...meta,
    ...(request ? { request: request.req } : {}),
    ...(response ? { response: response.res } : {}),
    ...(req ? { req: req.req } : {}),
  };
}

/** Adds a listener until the extension is unloaded. Answers a function that removes it earlier. */
export function addExtensionListener(
  runtime: ExtensionRuntime,
  kind: ListenerKind,
  event: string,
  handler: ExtensionHandler,
): () => unknown {
  assertHandler(event, handler);
  const call = handler as Call;
  const remove =
    kind === 'filter'
      ? runtime.events.onFilter(event, async (payload, meta) => {
          try {
            const context = await createEventContext(runtime, meta.caller);
            if (meta.event !== 'request.not_found') return await call(payload, toListenerMeta(meta), context);
            return await callNotFoundListener(runtime, meta, (listenerMeta) => call(payload, listenerMeta, context));
          } catch (error) {
            throw toServiceFailure(error);
          }
        })
      : runtime.events.onAction(event, async (meta) =>
          call(toListenerMeta(meta), await createEventContext(runtime, meta.caller)),
        );
  if (kind === 'filter') runtime.filters.push(event);
  return runtime.undoStack.add(remove);
}
