import type { ConfinedHost, Declared, HostOf, Json, JsonObject, SecretReference } from './host.ts';

/**
 * The user on whose behalf confined code runs. `context.accountability` is null for a request without a token and for a
 * schedule.
 */
export interface Accountability {
  readonly user: string | null;
  readonly role: string | null;
  readonly admin: boolean;
}

export interface Activation {
  readonly type: 'json-endpoint' | 'flow-operation' | 'event-filter' | 'event-action';
  /** For hooks: the name of the emitted event. */
  readonly event?: string;
}

/** The context of a confined handler. Everything that the handler can reach is in here. */
export interface ConfinedContext<Host = ConfinedHost> {
  /** The name of the package. */
  readonly extensionId: string;
  /** The id of the endpoint, operation or hook. */
  readonly contributionId: string;
  readonly activation: Activation;
  readonly accountability: Accountability | null;
  readonly host: Host;
  /**
   * Ends the invocation with an error for the client. An endpoint, or the write that a filter guards, answers `{
   * errors: [{ message, extensions: { code } }] }` with this status. A step of a flow passes status, code and message
   * to its reject branch. In actions it is a failure like any other. It throws, so do not catch it. `status`: 400 to
   * 499. `code`: 2 to 64 capital letters, digits and `_`, the first a letter; codes of the service are allowed with
   * their own status only, and codes of sign-in not at all. `message`: one line, cut after 500 characters. For values
   * outside of these bounds, and for any other error, the client gets 500 without its text. Administrators see it at
   * `GET /extensions` and in the log.
   */
  reject(status: number, code: string, message: string): never;
}

/** A request to a confined endpoint, without headers, cookies and raw bytes. It matches `input` of the manifest, where there is one. */
export interface JsonRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  /** The path below `/<id>`, as sent; `/` for `/<id>` itself. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The parsed JSON body; null without a body. */
  readonly body: Json;
}

/**
 * The response: `body` is sent as JSON without an envelope. Any other member is an error, as is a response that does not match `output` of
 * the manifest.
 */
export interface JsonResponse {
  /** 200 to 599. Default: 200. */
  readonly status?: number;
  readonly body?: unknown;
}

type Awaitable<Value> = Value | Promise<Value>;

export interface JsonEndpoint<Host = ConfinedHost> {
  /** The name of the package, with or without its prefix. The endpoint answers under `/<id>`. */
  readonly id: string;
  handler(request: JsonRequest, context: ConfinedContext<Host>): Awaitable<JsonResponse>;
}

export interface FlowOperation<Host = ConfinedHost> {
  readonly id: string;
  /**
   * Runs one step of a flow. `input` is the result of the previous step; secret options are passed as
   * `SecretReference`.
   */
  handler(
    step: { readonly options: Readonly<Record<string, Json | SecretReference>>; readonly input: Json },
    context: ConfinedContext<Host>,
  ): Awaitable<unknown>;
}

/** The payload of an event: an item to be written, a list of keys, rows or a query. */
// biome-ignore lint/suspicious/noExplicitAny: each event has its own
export type EventPayload = any;

export interface EventHook<Host = ConfinedHost> {
  readonly id: string;
  /**
   * Filters by exact event name, the same that the manifest declares. A returned value replaces the payload, undefined
   * keeps it, and an error refuses the write.
   */
  readonly filters?: Readonly<
    Record<string, (payload: EventPayload, meta: JsonObject, context: ConfinedContext<Host>) => Awaitable<unknown>>
  >;
  /** Actions by exact event name. They run after the commit, and their results are ignored. */
  readonly actions?: Readonly<Record<string, (meta: JsonObject, context: ConfinedContext<Host>) => Awaitable<unknown>>>;
}

/**
 * Defines a confined endpoint. With the manifest's capabilities as type argument, `host` has the granted members only.
 */
export const defineJsonEndpoint = <Capabilities extends Declared = { [Name in keyof ConfinedHost]: unknown }>(
  config: JsonEndpoint<HostOf<Capabilities>>,
): JsonEndpoint<HostOf<Capabilities>> => config;

/** Defines a confined operation, which is a step of flows. */
export const defineFlowOperation = <Capabilities extends Declared = { [Name in keyof ConfinedHost]: unknown }>(
  config: FlowOperation<HostOf<Capabilities>>,
): FlowOperation<HostOf<Capabilities>> => config;

/** Defines a confined hook, which listens to events. */
export const defineEventHook = <Capabilities extends Declared = { [Name in keyof ConfinedHost]: unknown }>(
  config: EventHook<HostOf<Capabilities>>,
): EventHook<HostOf<Capabilities>> => config;
