import { Failure } from '#kernel';

/** Why a request failed: for those who tell it on in words of their own. Others see one text for all. */
export type OutboundReason = 'denied' | 'timeout' | 'unreachable';

export class OutboundFailure extends Failure {
  readonly reason: OutboundReason;

  constructor(reason: OutboundReason) {
    super('SERVICE_UNAVAILABLE', 'The requested destination is not available.');
    this.reason = reason;
  }
}
