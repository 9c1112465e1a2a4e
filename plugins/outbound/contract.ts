import { type Invocation, service } from '#kernel';

export interface OutboundRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal | undefined;
  /** `private`: addresses of private networks as well, other than this machine's own; without it public ones only. */
  readonly reach?: 'private';
  /** Milliseconds for the whole exchange. */
  readonly timeout: number;
  /** Bytes of the longest answer that is taken; longer ones fail with CONTENT_TOO_LARGE. */
  readonly maxBytes: number;
  /** Asked before a part of the answer is kept: may it be? Where not, the request fails with REQUESTS_EXCEEDED. */
  readonly mayHold?: (bytes: number) => boolean;
}

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
   * Fails with the reasons of `send`, also when it ends before all is there. Read to its end or left by `return`, which lets go
   * of the connection; `maxBytes` and `timeout` hold to the last byte.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Requests to the outside on behalf of somebody else: the address is checked after its name was resolved and is the one
 * that is connected to, so a name cannot lead inside (IMPORT_IP_DENY_LIST). Redirects are answers, not followed.
 */
export interface Outbound {
  /** SERVICE_UNAVAILABLE where the address is denied, the other side is not reached, or time is over. */
  send(request: OutboundRequest): Promise<OutboundResponse>;
  /** The same for answers of any length: ready when the headers are there. `mayHold` is not asked. */
  open(request: OutboundRequest): Promise<OutboundStream>;
}

export const outbound = service<Outbound>('outbound', { version: '1.0.0' });

/** What confined code asks for (conventions, "request.send"). */
export interface SendOptions {
  readonly url: string;
  /** GET where it says nothing. */
  readonly method?: string;
  /** Those that may not be set are left out. */
  readonly headers?: Readonly<Record<string, unknown>>;
  /** A text is sent as it is, any other value as JSON. */
  readonly body?: unknown;
  /** 10,000 where it says nothing, 30,000 at most. */
  readonly timeoutMs?: number;
  /** `{ bearer: reference }` or `{ header, secret: reference }`. */
  readonly auth?: unknown;
}

export interface SendAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed where it is JSON, else a text. */
  readonly body: unknown;
}

/** What the capability `request` binds: `host.request`. */
export interface RequestApi {
  /** Rejects with a Refusal: `denied`, `invalid_request`, `timeout` or `internal`. */
  send(options: SendOptions, invocation: Invocation): Promise<SendAnswer>;
}

declare module '#kernel' {
  interface HostMembers {
    readonly request: RequestApi;
  }
}
