import type { GuestError } from './contract.ts';

/** What an author stated by `reject`, unchecked but for its types. */
export interface Rejection {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** What a handler threw, in the author's words, and where in the script. */
export interface ThrownError {
  readonly message: string;
  /** Line and column from 1, of the script that was opened; undefined where the stack does not tell. */
  readonly at?: { readonly line: number; readonly column: number };
}

/** One run of confined code failed. Its message is ours; texts of the guest are in `rejection` and `thrown` alone. */
export class GuestFailure extends Error {
  readonly code: GuestError;
  /** Of `rejected`. */
  readonly rejection: Rejection | undefined;
  /** Of `guest-error`, as far as the guest tells. */
  readonly thrown: ThrownError | undefined;

  constructor(code: GuestError, words: { readonly rejection?: Rejection; readonly thrown?: ThrownError } = {}) {
    super(`confined code failed: ${code}`);
    this.name = 'GuestFailure';
    this.code = code;
    this.rejection = words.rejection;
    this.thrown = words.thrown;
  }
}
