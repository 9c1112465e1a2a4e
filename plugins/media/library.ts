import type { MediaFailureReason } from './contract.ts';

/** Why `Media.transform` failed. */
export class MediaError extends Error {
  readonly reason: MediaFailureReason;

  /** `message` may be shown to clients: it names no path. */
  constructor(reason: MediaFailureReason, message: string) {
    super(message);
    this.name = 'MediaError';
    this.reason = reason;
  }
}
