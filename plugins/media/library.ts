import type { MediaReason } from './contract.ts';

/** Why `Media.transform` failed. */
export class MediaError extends Error {
  readonly reason: MediaReason;

  /** `message` may be shown to clients: it names no path. */
  constructor(reason: MediaReason, message: string) {
    super(message);
    this.name = 'MediaError';
    this.reason = reason;
  }
}
