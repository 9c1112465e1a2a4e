import type { EventMeta } from '#kernel';
import { answerNotFound } from './compat/not-found.ts';
import { asFailure } from './failure.ts';
import { checked, type Handler } from './handler.ts';
import { eventContext, type Kit } from './kit.ts';

type Kind = 'filter' | 'action';
type Meta = Readonly<Record<string, unknown>>;
type Call = (...args: unknown[]) => unknown;

/** Callers are the platform's own; extensions are told of them by `accountability`. */
const metaOf = ({ caller: _caller, ...meta }: EventMeta): Meta => meta;

/** Listens until the extension goes, or until the answer is called. */
export function listen(kit: Kit, kind: Kind, event: string, handler: Handler): () => unknown {
  checked(event, handler);
  const call = handler as Call;
  const off =
    kind === 'filter'
      ? kit.events.onFilter(event, async (payload, meta) => {
          try {
            const context = await eventContext(kit, meta.caller);
            if (meta.event !== 'request.not_found') return await call(payload, metaOf(meta), context);
            return await answerNotFound(kit, meta, (given) => call(payload, given, context));
          } catch (error) {
            throw asFailure(error);
          }
        })
      : kit.events.onAction(event, async (meta) => call(metaOf(meta), await eventContext(kit, meta.caller)));
  if (kind === 'filter') kit.filters.push(event);
  return kit.scope.add(off);
}
