import type { GuestError } from '../../protocol/messages.ts';

/** A run, a start or a probe that came to nothing. */
export class RunFailure extends Error {
  readonly code: GuestError;

  constructor(code: GuestError) {
    super(`confined code failed: ${code}`);
    this.name = 'RunFailure';
    this.code = code;
  }
}
