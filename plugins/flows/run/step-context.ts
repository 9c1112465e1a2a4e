import type { FlowOperationContext } from '../contract.ts';
import type { RunState } from '../state/run-state.ts';
import type { WaitAccount } from './run-waits.ts';
import type { StepPolicy } from './step-policy.ts';

/** What a run takes over from the operation that starts it. */
export interface NestedRun {
  /** Equal where the operation runs again. */
  readonly id: string;
  readonly state: RunState | undefined;
  readonly waits: WaitAccount;
  readonly signal: AbortSignal;
}

/** What operations of this plugin see of their run, beside what all see. */
export interface StepContext extends FlowOperationContext {
  readonly signal: AbortSignal;
  readonly policy: StepPolicy;
  /**
   * Waits. A run in the background is suspended by a wait of more than a second: the operation then begins again afterwards, and this wait
   * ends at once.
   * @throws RunSuspension; INVALID_PAYLOAD where the run would wait longer than it may; OperationTimeout.
   */
  wait(milliseconds: number): Promise<void>;
  nested(element: number): NestedRun;
}
