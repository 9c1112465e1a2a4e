import type { GuestError } from '../../protocol/messages.ts';

/** The failure of an invocation, a start or a probe. */
export class RunFailure extends Error {
  readonly code: GuestError;
  /** The unchecked body of the child's message `failure`. */
  readonly body: Buffer | undefined;

  constructor(code: GuestError, body?: Buffer) {
    super(`confined code failed: ${code}`);
    this.name = 'RunFailure';
    this.code = code;
    this.body = body;
  }
}
