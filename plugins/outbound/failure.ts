import { Failure } from '#kernel';

/** Why an outgoing request failed, for code that reports the failure itself. Clients get one text for all reasons. */
export type OutboundFailureReason = 'denied' | 'timeout' | 'unreachable';

/** What an operator can do about a denied address. */
export const DENIED_ADDRESS_REMEDY =
  'Its address is not public, or IMPORT_IP_DENY_LIST has it: IMPORT_IP_ALLOW_LIST names addresses that are reached all the same.';

export class OutboundFailure extends Failure {
  readonly reason: OutboundFailureReason;
  /** Shown in the log and to admins. Other callers must not learn whether an address is denied or unreachable. */
  readonly remedy: string | undefined;

  constructor(reason: OutboundFailureReason) {
    super('SERVICE_UNAVAILABLE', 'The requested destination is not available.');
    this.reason = reason;
    this.remedy = reason === 'denied' ? DENIED_ADDRESS_REMEDY : undefined;
  }

  override toClientView(reader: { admin: boolean }): { message: string; code: string } {
    const { message, code } = super.toClientView(reader);
    return { message: reader.admin && this.remedy !== undefined ? `${message} ${this.remedy}` : message, code };
  }
}
