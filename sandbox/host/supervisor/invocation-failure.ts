import type { InvocationFailureCode } from '../../protocol/messages.ts';

/** The failure of an invocation, a start or a probe. */
export class InvocationFailure extends Error {
  readonly code: InvocationFailureCode;
  /** The unchecked body of the child's message `failure`. */
  readonly body: Buffer | undefined;

  constructor(code: InvocationFailureCode, body?: Buffer) {
    super(`confined code failed: ${code}`);
    this.name = 'InvocationFailure';
    this.code = code;
    this.body = body;
  }
}
