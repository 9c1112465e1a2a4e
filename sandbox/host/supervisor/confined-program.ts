/**
 * A script of a third-party package, with the callback for when it is parked: not started again after too many crashes.
 */
export interface ConfinedProgram {
  /** For the log. */
  readonly name: string;
  readonly script: string;
  /** True for a stateful package: its invocations share one realm. */
  readonly reuse: boolean;
  /** Called when the program is parked. `detail` is one sentence for the administrator. */
  onParked(detail: string): void;
}
