import { authorities, facet, service } from '#kernel';
import type { ConfinedCodeInvocation } from '../broker/contract.ts';
import type { OperationObserver } from '../telemetry/contract.ts';
import { combineObservers } from '../telemetry/library.ts';

/** One outgoing HTTP request. Redirects are not followed. */
export interface OutboundRequest {
  readonly method: string;
  /** `http:` or `https:` only. */
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The plugin or package that sends the request, for metrics and traces. Default: this plugin. */
  readonly owner?: string;
  /** Aborting it ends the request, which then fails with SERVICE_UNAVAILABLE. */
  readonly signal?: AbortSignal | undefined;
  /** `private`: also addresses of private networks, except this machine's own. Default: public addresses only. */
  readonly reach?: 'private';
  /** Milliseconds for the whole exchange, from name resolution to the last byte. */
  readonly timeout: number;
  /** Bytes of the longest accepted body. */
  readonly maxBytes: number;
  /**
   * Called before each part of the body is buffered: whether this many more bytes may be kept in memory. Default:
   * always.
   */
  readonly canBuffer?: (bytes: number) => boolean;
}

/** A complete response. */
export interface OutboundResponse {
  readonly status: number;
  /** Names in lower case; repeated headers are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** A response whose body is streamed. */
export interface StreamedOutboundResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The reader must read to the end or call `return`, which closes the connection. `maxBytes` and `timeout` apply to
   * the last byte. Rejects with the errors of `send`, also when the connection breaks.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Outgoing requests on behalf of users and packages. The checked address is the one that is connected to, so a name
 * cannot resolve to an internal address later (IMPORT_IP_DENY_LIST). Redirects are returned and not followed.
 */
export interface OutboundService {
  /**
   * Resolves with the complete response, whatever its status.
   * @throws SERVICE_UNAVAILABLE where the address is denied, the server cannot be reached, `timeout` is over or
   * `signal` aborts; CONTENT_TOO_LARGE over `maxBytes`; REQUESTS_EXCEEDED where `canBuffer` refuses.
   */
  send(request: OutboundRequest): Promise<OutboundResponse>;
  /**
   * Like `send`, but resolves when the headers have arrived and streams the body. `canBuffer` is not called.
   * @throws the errors of `send`.
   */
  open(request: OutboundRequest): Promise<StreamedOutboundResponse>;
}

/** The service for core plugins that fetch URLs of users, such as `files`. Extensions use the capability `request`. */
export const outbound = service<OutboundService>('outbound', { version: '1.0.0' });

/** A request of confined code (conventions, "request.send"). */
export interface ConfinedOutboundRequest {
  readonly url: string;
  /** Default GET. */
  readonly method?: string;
  /** Reserved headers are left out. */
  readonly headers?: Readonly<Record<string, unknown>>;
  /** A string is sent as it is, any other value as JSON. */
  readonly body?: unknown;
  /** Milliseconds; default 10,000, at most 30,000. */
  readonly timeoutMs?: number;
  /** `{ bearer: reference }` or `{ header, secret: reference }`. */
  readonly auth?: unknown;
}

/** The response for confined code. */
export interface ConfinedOutboundResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed value where it is JSON, else a string. */
  readonly body: unknown;
}

/** The object that the capability `request` binds as `host.request`. */
export interface OutboundRequestApi {
  /**
   * Sends one request for an invocation.
   * @throws a Refusal: `denied`, `invalid_request`, `timeout`, `rate_limited` or `internal`.
   */
  send(options: ConfinedOutboundRequest, invocation: ConfinedCodeInvocation): Promise<ConfinedOutboundResponse>;
}

declare module '#kernel' {
  interface HostMembers {
    readonly request: OutboundRequestApi;
  }
}

/** Observers of requests to other servers. They may add headers, such as `traceparent`. */
export const outboundObservers = facet<OperationObserver, OperationObserver | undefined>('outbound.observers', {
  combine: combineObservers,
  coreOnly: true,
  describe: () => authorities('listens to', ['requests'], 'to other servers'),
});
