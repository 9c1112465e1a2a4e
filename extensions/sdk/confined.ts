import type { ConfinedHost, Declared, HostOf, Json, JsonObject, SecretReference } from './host.ts';

/** Who stands behind an invocation; null where nobody is known, as with a request without a token or a schedule. */
export interface Accountability {
  readonly user: string | null;
  readonly role: string | null;
  readonly admin: boolean;
}

export interface Activation {
  readonly type: 'json-endpoint' | 'flow-operation' | 'event-filter' | 'event-action';
  /** Of hooks: the name of the event that fired. */
  readonly event?: string;
}

/** What a confined handler is given beside its input: everything it can reach is in here. */
export interface ConfinedContext<Host = ConfinedHost> {
  /** The package. */
  readonly extensionId: string;
  /** The endpoint, operation or hook. */
  readonly contributionId: string;
  readonly activation: Activation;
  readonly accountability: Accountability | null;
  readonly host: Host;
  /**
   * Ends the invocation with an error that the client is answered: of an endpoint or of the write that a filter stands
   * before, `{ errors: [{ message, extensions: { code } }] }` with this status; of a step, the data of its reject branch. It
   * throws, so leave it uncaught. Of actions it is a failure like others. `status`: 400 to 499. `code`: 2 to 64 capital
   * letters, digits and `_`, the first a letter; one that the service has itself only with the status it has there, and none
   * of signing in. `message`: one line, cut after 500 characters. Whatever is out of these bounds, and whatever else is
   * thrown, the client is answered 500 without a word of it; administrators read it at `GET /extensions` and in the log.
   */
  reject(status: number, code: string, message: string): never;
}

/** A request, without headers, cookies and raw bytes. */
export interface JsonRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  /** What follows the mount, as it was sent; `/` for the mount itself. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Parsed JSON; null where there was none. */
  readonly body: Json;
}

/** What is sent: the body as it is, as JSON. Any other member is an error. */
export interface JsonResponse {
  /** 200 to 599; 200 where it is left out. */
  readonly status?: number;
  readonly body?: unknown;
}

type Awaitable<Value> = Value | Promise<Value>;

export interface JsonEndpoint<Host = ConfinedHost> {
  /** The name of the package, with or without its prefix: it answers under `/<id>`. */
  readonly id: string;
  handler(request: JsonRequest, context: ConfinedContext<Host>): Awaitable<JsonResponse>;
}

export interface FlowOperation<Host = ConfinedHost> {
  readonly id: string;
  /** `input` is what the step before answered. Options that the manifest delivers by reference are references. */
  handler(
    step: { readonly options: Readonly<Record<string, Json | SecretReference>>; readonly input: Json },
    context: ConfinedContext<Host>,
  ): Awaitable<unknown>;
}

/** An item that is to be written, a list of keys, rows, a query: it depends on the event. */
// biome-ignore lint/suspicious/noExplicitAny: each event has its own
export type EventPayload = any;

export interface EventHook<Host = ConfinedHost> {
  readonly id: string;
  /** By exact event name, the same that the manifest declares. No answer keeps the payload; a failure refuses. */
  readonly filters?: Readonly<
    Record<string, (payload: EventPayload, meta: JsonObject, context: ConfinedContext<Host>) => Awaitable<unknown>>
  >;
  /** Told afterwards; what is answered does not matter. */
  readonly actions?: Readonly<Record<string, (meta: JsonObject, context: ConfinedContext<Host>) => Awaitable<unknown>>>;
}

/** A confined endpoint. Name the manifest's capabilities as the type argument to be offered only what they grant. */
export const defineJsonEndpoint = <Capabilities extends Declared = { [Name in keyof ConfinedHost]: unknown }>(
  config: JsonEndpoint<HostOf<Capabilities>>,
): JsonEndpoint<HostOf<Capabilities>> => config;

/** A confined step of flows. */
export const defineFlowOperation = <Capabilities extends Declared = { [Name in keyof ConfinedHost]: unknown }>(
  config: FlowOperation<HostOf<Capabilities>>,
): FlowOperation<HostOf<Capabilities>> => config;

/** A confined listener to events. */
export const defineEventHook = <Capabilities extends Declared = { [Name in keyof ConfinedHost]: unknown }>(
  config: EventHook<HostOf<Capabilities>>,
): EventHook<HostOf<Capabilities>> => config;
