import type { GuestError } from './contract.ts';

/** One run of confined code failed; texts of the guest never leave the sandbox. */
export class GuestFailure extends Error {
  readonly code: GuestError;

  constructor(code: GuestError) {
    super(`confined code failed: ${code}`);
    this.name = 'GuestFailure';
    this.code = code;
  }
}
