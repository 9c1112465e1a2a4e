import type { Caller } from '#kernel';
import { toCallerFromAccountability } from './caller-accountability.ts';
import type { ExtensionHandler } from './event-handler-check.ts';
import { addExtensionListener } from './event-listeners.ts';
import type { ExtensionRuntime } from './extension-runtime.ts';
import { addInitHandler, runInitHandlers } from './init-events.ts';

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
  onFilter(event: string, handler: ExtensionHandler): void;
  onAction(event: string, handler: ExtensionHandler): void;
  onInit(event: string, handler: ExtensionHandler): void;
  offFilter(event: string, handler: ExtensionHandler): void;
  offAction(event: string, handler: ExtensionHandler): void;
  offInit(event: string, handler: ExtensionHandler): void;
}

type EmitterContext = { readonly accountability?: object | null } | null;

/** The member `emitter` of the context: the service's own events, and events of any other name between extensions. */
export function createEmitter(runtime: ExtensionRuntime): Emitter {
  const offs = new Map<string, Map<ExtensionHandler, (() => unknown)[]>>();
  const keep = (key: string, handler: ExtensionHandler, off: () => unknown) => {
    const all = offs.get(key) ?? new Map<ExtensionHandler, (() => unknown)[]>();
    offs.set(key, all.set(handler, [...(all.get(handler) ?? []), off]));
  };
  const forget = (key: string, handler: ExtensionHandler) => {
    for (const off of offs.get(key)?.get(handler) ?? []) off();
    offs.get(key)?.delete(handler);
  };
  const names = (events: string | readonly string[]) => (typeof events === 'string' ? [events] : events);
  const callerFor = (context: EmitterContext | undefined): Caller =>
    context?.accountability
      ? toCallerFromAccountability(runtime.deps.identity, context.accountability)
      : runtime.asSystem('event without accountability');

  return {
    emitFilter: (events, payload, meta = {}, context = null) =>
      runtime.events.filter(names(events), payload, { ...meta, caller: callerFor(context) }),
    emitAction: (events, meta = {}, context = null) =>
      runtime.events.action(names(events), { ...meta, caller: callerFor(context) }),
    emitInit: (event, meta = {}) => runInitHandlers(runtime.deps, [event], meta),
    onFilter: (event, handler) =>
      keep(`filter ${event}`, handler, addExtensionListener(runtime, 'filter', event, handler)),
    onAction: (event, handler) =>
      keep(`action ${event}`, handler, addExtensionListener(runtime, 'action', event, handler)),
    onInit: (event, handler) => keep(`init ${event}`, handler, addInitHandler(runtime, event, handler)),
    offFilter: (event, handler) => forget(`filter ${event}`, handler),
    offAction: (event, handler) => forget(`action ${event}`, handler),
    offInit: (event, handler) => forget(`init ${event}`, handler),
  };
}
