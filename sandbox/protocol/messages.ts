/**
 * What host and child say to each other, version 1. A frame is a header (JSON, `Header`) and a body (bytes whose meaning
 * the header tells, mostly JSON text that is passed on unread): see `frames.ts`. The child is treated as hostile: the host
 * checks every header it sends, and a frame out of shape or out of place ends the child.
 */
export const PROTOCOL = 1;

/** What stacks of the guest call its script. */
export const ARTIFACT = 'artifact';

/** Bounds of one child, told with `prepare`; times in milliseconds, sizes in bytes. */
export interface GuestLimits {
  /** Heap of the isolate. */
  readonly memory: number;
  /** CPU time one invocation may use; also the bound of one synchronous stretch. */
  readonly cpu: number;
  /** Wall-clock time of one invocation. */
  readonly wall: number;
  /** What a handler may answer, as JSON. */
  readonly result: number;
  /** The arguments of one call of the host, as JSON. */
  readonly hostCall: number;
}

export interface Activation {
  readonly type: 'json-endpoint' | 'flow-operation' | 'event-filter' | 'event-action' | 'exec';
  readonly event?: string;
}

/** `context` of a handler without its `host`. */
export interface GuestContext {
  readonly extensionId: string;
  readonly contributionId: string;
  readonly activation: Activation;
  readonly accountability: {
    readonly user: string | null;
    readonly role: string | null;
    readonly admin: boolean;
  } | null;
}

/** What an artifact's contract object says of itself. `key` is '' for a single one, `type:name` inside of a bundle. */
export interface ContractEntry {
  readonly key: string;
  readonly id: string | null;
  /** Has a `handler` function. */
  readonly handler: boolean;
  /** Event names with a function each. */
  readonly filters: readonly string[];
  readonly actions: readonly string[];
}

/** What a child says of an invocation that ended badly. */
export type ChildFailure = 'timeout' | 'guest-error' | 'invalid-result' | 'result-too-large' | 'rejected';

/**
 * How an invocation ended badly. `busy` and `internal` are said by the host alone, and so is `cpu-limit`: of a
 * `timeout` that the child reports, and of a process that it killed for its CPU time.
 */
export type GuestError =
  | ChildFailure
  | 'cpu-limit'
  | 'crash'
  | 'invalid-entry'
  | 'identity-mismatch'
  | 'busy'
  | 'internal';

export type HostMessage =
  /** The first message, once per child: what can be made before there is an artifact is made now. */
  | { readonly type: 'prepare'; readonly limits: GuestLimits }
  /** Body: the artifact as a script, whose completion value is `function (module, exports)`. Once per child. */
  | { readonly type: 'load'; readonly reuse: boolean }
  /** Body: the input as JSON. `entry` is a contract key. Ids are never used twice. */
  | { readonly type: 'invoke'; readonly id: number; readonly entry: string; readonly context: GuestContext }
  /** Body: the value as JSON where `ok`, else `{ code, message, details? }` as JSON. */
  | { readonly type: 'reply'; readonly id: number; readonly call: number; readonly ok: boolean }
  /** Nobody waits for this invocation any more. */
  | { readonly type: 'cancel'; readonly id: number }
  /**
   * Answered with `pong` of the same id once everything that came before was executed as far as it goes. With `isolate`
   * the isolate does something of ours first: the answer proves that nothing holds it up, and that what was cancelled is gone.
   */
  | { readonly type: 'ping'; readonly id: number; readonly isolate?: true };

export type ChildMessage =
  /** The runner is up and knows how to make isolates. */
  | { readonly type: 'hello'; readonly protocol: number }
  | { readonly type: 'loaded'; readonly contract: readonly ContractEntry[] }
  | { readonly type: 'refused'; readonly code: 'invalid-entry' | 'timeout' }
  /** Body: what the handler answered, as JSON (`null` for undefined unless `none`). */
  | { readonly type: 'result'; readonly id: number; readonly none?: true }
  /**
   * Body: of `rejected`, `{ status, code, message }` as the author stated them; of `guest-error`, `{ message?, stack? }` of
   * what was thrown; else nothing.
   */
  | { readonly type: 'failure'; readonly id: number; readonly code: ChildFailure }
  /** Body: the list of arguments as JSON. `call` is 0 where no reply is wanted. */
  | { readonly type: 'call'; readonly id: number; readonly call: number; readonly method: string }
  | { readonly type: 'pong'; readonly id: number };

export type Message = HostMessage | ChildMessage;
