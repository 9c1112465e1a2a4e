import type { Caller } from '#kernel';
import { toCaller } from './caller.ts';
import type { ExtensionRuntime } from './extension-runtime.ts';
import type { Handler } from './handler.ts';
import { addInitHandler, runInitHandlers } from './init.ts';
import { listen } from './listen.ts';

type Meta = Readonly<Record<string, unknown>>;

export interface Emitter {
  emitFilter(
    events: string | readonly string[],
    payload: unknown,
    meta?: Meta,
    context?: EmitterContext,
  ): Promise<unknown>;
  emitAction(events: string | readonly string[], meta?: Meta, context?: EmitterContext): void;
  emitInit(event: string, meta?: Meta): Promise<void>;
  onFilter(event: string, handler: Handler): void;
  onAction(event: string, handler: Handler): void;
  onInit(event: string, handler: Handler): void;
  offFilter(event: string, handler: Handler): void;
  offAction(event: string, handler: Handler): void;
  offInit(event: string, handler: Handler): void;
}

type EmitterContext = { readonly accountability?: object | null } | null;

/** The member `emitter` of the context: the service's own events, and events of any other name between extensions. */
export function createEmitter(runtime: ExtensionRuntime): Emitter {
  const offs = new Map<string, Map<Handler, (() => unknown)[]>>();
  const keep = (key: string, handler: Handler, off: () => unknown) => {
    const all = offs.get(key) ?? new Map<Handler, (() => unknown)[]>();
    offs.set(key, all.set(handler, [...(all.get(handler) ?? []), off]));
  };
  const forget = (key: string, handler: Handler) => {
    for (const off of offs.get(key)?.get(handler) ?? []) off();
    offs.get(key)?.delete(handler);
  };
  const names = (events: string | readonly string[]) => (typeof events === 'string' ? [events] : events);
  const callerFor = (context: EmitterContext | undefined): Caller =>
    context?.accountability
      ? toCaller(runtime.deps.identity, context.accountability)
      : runtime.asSystem('event without accountability');

  return {
    emitFilter: (events, payload, meta = {}, context = null) =>
      runtime.events.filter(names(events), payload, { ...meta, caller: callerFor(context) }),
    emitAction: (events, meta = {}, context = null) =>
      runtime.events.action(names(events), { ...meta, caller: callerFor(context) }),
    emitInit: (event, meta = {}) => runInitHandlers(runtime.deps, [event], meta),
    onFilter: (event, handler) => keep(`filter ${event}`, handler, listen(runtime, 'filter', event, handler)),
    onAction: (event, handler) => keep(`action ${event}`, handler, listen(runtime, 'action', event, handler)),
    onInit: (event, handler) => keep(`init ${event}`, handler, addInitHandler(runtime, event, handler)),
    offFilter: (event, handler) => forget(`filter ${event}`, handler),
    offAction: (event, handler) => forget(`action ${event}`, handler),
    offInit: (event, handler) => forget(`init ${event}`, handler),
  };
}
