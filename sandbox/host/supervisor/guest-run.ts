import type { GuestContext } from '../../protocol/messages.ts';

/** Something a run asks of the host. */
export interface HostCall {
  readonly method: string;
  /** The list of arguments as JSON, unchecked. */
  readonly body: Buffer;
  /** Undefined where no answer is wanted. Late ones are dropped. */
  readonly reply: ((ok: boolean, json: string) => void) | undefined;
}

/** What is asked of a program. */
export interface GuestRun {
  readonly entry: string;
  readonly context: GuestContext;
  /** JSON. */
  readonly input: string;
  /** Aborts when nobody waits any more. */
  readonly signal?: AbortSignal | undefined;
  /** False when the call was beyond its bounds: too many of those, and the process is listened to less. */
  call(call: HostCall): boolean;
}

/** What a handler answered, as JSON that nobody has checked; undefined for no value. */
export type RunResult = Buffer | undefined;
