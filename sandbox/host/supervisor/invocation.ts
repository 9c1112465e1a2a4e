import type { HandlerContextData } from '../../protocol/messages.ts';

/** A call from confined code to a function of its `host` object. */
export interface HostCall {
  readonly method: string;
  /** The arguments as a JSON list, unchecked. */
  readonly body: Buffer;
  /** Undefined where the guest expects no reply. Late replies are dropped. */
  readonly reply: ((ok: boolean, json: string) => void) | undefined;
}

/** One invocation of a program. */
export interface ScriptInvocation {
  readonly entry: string;
  readonly context: HandlerContextData;
  /** JSON. */
  readonly input: string;
  /** Aborts when the client disconnects. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Handles a host call. False where it exceeds a limit: the host reads a process with too many of these more slowly.
   */
  call(call: HostCall): boolean;
}

/** The result of a handler as unchecked JSON; undefined for no value. */
export type InvocationResult = Buffer | undefined;
