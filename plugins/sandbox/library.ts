import type { InvocationFailureCode } from './contract.ts';

/** The arguments with which the code of an extension called `reject`; only their types are checked. */
export interface HandlerRejection {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** A thrown error of a handler: the author's message, and the position in the script. */
export interface ThrownHandlerError {
  readonly message: string;
  /** Line and column from 1 in the opened script; undefined where the stack does not name it. */
  readonly at?: { readonly line: number; readonly column: number };
}

/**
 * The failure of one invocation of confined code. `message` is a text of the service; texts of the confined code are in
 * `rejection` and `thrown` only.
 */
export class GuestFailure extends Error {
  readonly code: InvocationFailureCode;
  /** Set where `code` is `rejected`. */
  readonly rejection: HandlerRejection | undefined;
  /** Set where `code` is `guest-error` and the guest sent a message. */
  readonly thrown: ThrownHandlerError | undefined;

  constructor(
    code: InvocationFailureCode,
    words: { readonly rejection?: HandlerRejection; readonly thrown?: ThrownHandlerError } = {},
  ) {
    super(`confined code failed: ${code}`);
    this.name = 'GuestFailure';
    this.code = code;
    this.rejection = words.rejection;
    this.thrown = words.thrown;
  }
}
