/** A script of a third-party package, and whom to tell when it is given up. */
export interface ConfinedProgram {
  /** For the log. */
  readonly name: string;
  readonly script: string;
  /** Invocations share one context. */
  readonly reuse: boolean;
  /** It crashed too often; `detail` is one sentence for the administrator. */
  onParked(detail: string): void;
}
