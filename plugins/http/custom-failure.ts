import { type ErrorCode, Failure } from '#kernel';

export interface CustomFailureContent {
  /** HTTP status, 400 to 599. */
  readonly status: number;
  /** Any code, also one that is not in `kernel/errors.ts`. */
  readonly code: string;
  readonly message: string;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** A failure with a status, code and message of its own, which every client sees unchanged. */
export class CustomFailure extends Failure {
  readonly #status: number;
  readonly #publicCode: string;

  /** `code` is the nearest code of `kernel/errors.ts`, for callers that check the kind of failure. */
  constructor(code: ErrorCode, stated: CustomFailureContent) {
    super(code, stated.message, stated.extensions);
    this.message = stated.message;
    this.#status = stated.status;
    this.#publicCode = stated.code;
  }

  override get status(): number {
    return this.#status;
  }

  override toClientView(): { message: string; code: string } {
    return { message: this.message, code: this.#publicCode };
  }
}
