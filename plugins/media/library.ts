import type { MediaReason } from './contract.ts';

export class MediaError extends Error {
  readonly reason: MediaReason;

  /** `message` may be shown: it has no path in it. */
  constructor(reason: MediaReason, message: string) {
    super(message);
    this.name = 'MediaError';
    this.reason = reason;
  }
}
