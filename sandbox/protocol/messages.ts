/**
 * Messages between host and child, version 1. A frame is a header (JSON) and a body (bytes whose meaning depends on the
 * header, mostly JSON text that is passed on unparsed): see `frames.ts`. The child is treated as hostile: the host
 * checks every header it sends and ends it after a malformed or unexpected frame.
 */
export const PROTOCOL_VERSION = 1;

/** Script name in stack traces of the guest. */
export const ARTIFACT_NAME_IN_STACK_TRACES = 'artifact';

/** Limits of one child, sent with `prepare`; times in milliseconds, sizes in bytes. */
export interface GuestLimits {
  /** Heap of the isolate. */
  readonly memory: number;
  /** CPU time one invocation may use; also the bound of one time slice. */
  readonly cpu: number;
  /** Wall-clock time of one invocation. */
  readonly wall: number;
  /** Longest result of a handler, as JSON. */
  readonly result: number;
  /** Longest arguments of one call of the host, as JSON. */
  readonly hostCall: number;
}

export interface InvocationTrigger {
  readonly type: 'json-endpoint' | 'flow-operation' | 'event-filter' | 'event-action' | 'exec';
  readonly event?: string;
}

/** `context` of a handler without `host` and `reject`. */
export interface HandlerContextData {
  readonly extensionId: string;
  readonly contributionId: string;
  readonly activation: InvocationTrigger;
  readonly accountability: {
    readonly user: string | null;
    readonly role: string | null;
    readonly admin: boolean;
  } | null;
}

/**
 * One object with handlers that a package’s script exports. `key` is '' where the script exports one such object and
 * `type:name` in a bundle.
 */
export interface ArtifactExport {
  readonly key: string;
  readonly id: string | null;
  /** True where the object has a `handler` function. */
  readonly handler: boolean;
  /** Names of events with a handler function. */
  readonly filters: readonly string[];
  readonly actions: readonly string[];
}

/** Failure codes that a child reports. */
export type ChildFailureCode = 'timeout' | 'guest-error' | 'invalid-result' | 'result-too-large' | 'rejected';

/**
 * Failure codes of an invocation. Only the host reports `busy`, `internal` and `cpu-limit`. The latter replaces a
 * `timeout` of the child and stands for a process that was killed for its CPU time.
 */
export type InvocationFailureCode =
  | ChildFailureCode
  | 'cpu-limit'
  | 'crash'
  | 'invalid-entry'
  | 'identity-mismatch'
  | 'busy'
  | 'internal';

export type HostMessage =
  /** The first message, once per child: creates the isolate before there is an artifact. */
  | { readonly type: 'prepare'; readonly limits: GuestLimits }
  /** Body: the artifact as a script, whose completion value is `function (module, exports)`. Once per child. */
  | { readonly type: 'load'; readonly reuse: boolean }
  /** Body: the input as JSON. `entry` is a contract key. Ids are never used twice. */
  | { readonly type: 'invoke'; readonly id: number; readonly entry: string; readonly context: HandlerContextData }
  /** Body: the value as JSON where `ok`, else `{ code, message, details? }` as JSON. */
  | { readonly type: 'reply'; readonly id: number; readonly call: number; readonly ok: boolean }
  /** Cancels the invocation. */
  | { readonly type: 'cancel'; readonly id: number }
  /**
   * Answered with a `pong` of the same id once all earlier messages were processed. With `isolate` the runner first
   * executes a function in the isolate: the pong proves that the isolate is not blocked and that cancelled invocations
   * have ended.
   */
  | { readonly type: 'ping'; readonly id: number; readonly isolate?: true };

export type ChildMessage =
  /** The runner has started and can create isolates. */
  | { readonly type: 'hello'; readonly protocol: number }
  | { readonly type: 'loaded'; readonly contract: readonly ArtifactExport[] }
  | { readonly type: 'refused'; readonly code: 'invalid-entry' | 'timeout' }
  /** Body: the result of the handler as JSON (`null` for undefined unless `none`). */
  | { readonly type: 'result'; readonly id: number; readonly none?: true }
  /**
   * Body: of `rejected`, `{ status, code, message }` as the author stated them; of `guest-error`, `{ message?, stack?
   * }` of the thrown value; else empty.
   */
  | { readonly type: 'failure'; readonly id: number; readonly code: ChildFailureCode }
  /** Body: the arguments as a JSON list. `call` is 0 where the guest expects no reply. */
  | { readonly type: 'call'; readonly id: number; readonly call: number; readonly method: string }
  | { readonly type: 'pong'; readonly id: number };

export type HostOrChildMessage = HostMessage | ChildMessage;
