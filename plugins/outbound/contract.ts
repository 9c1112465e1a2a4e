import { service } from '#kernel';
import type { Invocation } from '../broker/contract.ts';

/** One request to the outside. Redirects are not followed. */
export interface OutboundRequest {
  readonly method: string;
  /** `http:` or `https:` only. */
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Aborting it ends the request, which then fails with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** `private`: addresses of private networks as well, other than this machine's own; without it public ones only. */
  readonly reach?: 'private';
  /** Milliseconds for the whole exchange. */
  readonly timeout: number;
  /** Bytes of the longest answer that is taken. */
  readonly maxBytes: number;
  /** Whether this many more bytes of the answer may be kept in memory; asked before each part. */
  readonly canBuffer?: (bytes: number) => boolean;
}

/** A whole answer. */
export interface OutboundResponse {
  readonly status: number;
  /** Names in lower case; repeated ones joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** An answer whose bytes come as they are read. */
export interface OutboundStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Read to its end or left by `return`, which closes the connection; `maxBytes` and `timeout` hold to the last byte.
   * Fails with the reasons of `send`, also when it breaks off.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Requests to the outside on behalf of users and packages: the address is checked after its name was resolved and is the one
 * that is connected to, so a name cannot lead inside (IMPORT_IP_DENY_LIST). Redirects are answers, not followed.
 */
export interface Outbound {
  /**
   * Resolves with the whole answer, whatever its status.
   * @throws SERVICE_UNAVAILABLE where the address is denied, the server is not reached, or `timeout` is over;
   * CONTENT_TOO_LARGE beyond `maxBytes`; REQUESTS_EXCEEDED where `canBuffer` refuses; the reason of `signal`.
   */
  send(request: OutboundRequest): Promise<OutboundResponse>;
  /**
   * The same for answers of any length: ready when the headers are there. `canBuffer` is not asked.
   * @throws the errors of `send`.
   */
  open(request: OutboundRequest): Promise<OutboundStream>;
}

/** For plugins that fetch what a user names, such as `files`; packages use the capability `request`. */
export const outbound = service<Outbound>('outbound', { version: '1.0.0' });

/** A request of confined code (conventions, "request.send"). */
export interface SendOptions {
  readonly url: string;
  /** Default GET. */
  readonly method?: string;
  /** Those that may not be set are left out. */
  readonly headers?: Readonly<Record<string, unknown>>;
  /** A text is sent as it is, any other value as JSON. */
  readonly body?: unknown;
  /** Milliseconds; default 10,000, at most 30,000. */
  readonly timeoutMs?: number;
  /** `{ bearer: reference }` or `{ header, secret: reference }`. */
  readonly auth?: unknown;
}

/** What confined code receives of an answer. */
export interface SendResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed where it is JSON, else a text. */
  readonly body: unknown;
}

/** What the capability `request` binds: `host.request`. */
export interface RequestApi {
  /**
   * Sends one request for the run.
   * @throws a Refusal: `denied`, `invalid_request`, `timeout` or `internal`.
   */
  send(options: SendOptions, invocation: Invocation): Promise<SendResponse>;
}

declare module '#kernel' {
  interface HostMembers {
    readonly request: RequestApi;
  }
}
