/** A script of a third-party package, and the callback for its parking. */
export interface ConfinedProgram {
  /** For the log. */
  readonly name: string;
  readonly script: string;
  /** Invocations share one realm. */
  readonly reuse: boolean;
  /** Called when the program is parked. `detail` is one sentence for the administrator. */
  onParked(detail: string): void;
}
