import type { GuestError } from '../../protocol/messages.ts';

/** A run, a start or a probe that came to nothing. */
export class RunFailure extends Error {
  readonly code: GuestError;
  /** What the child told with it, unchecked: see the message `failure`. */
  readonly body: Buffer | undefined;

  constructor(code: GuestError, body?: Buffer) {
    super(`confined code failed: ${code}`);
    this.name = 'RunFailure';
    this.code = code;
    this.body = body;
  }
}
