import type { MediaFailureReason } from '../contract.ts';

/** Why an image is not transformed. The message may be shown to clients: it names no path. */
export class TransformRefusal extends Error {
  readonly reason: MediaFailureReason;

  constructor(reason: MediaFailureReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
