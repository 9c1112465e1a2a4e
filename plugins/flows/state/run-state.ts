import type { StepStatus } from '../run/step-records.ts';

/** An operation that has ended. */
export interface StoredStep {
  /** Its id. */
  readonly operation: string;
  /** When it began, in milliseconds since 1970. */
  readonly started: number;
  /** Milliseconds from the begin of its first attempt. */
  readonly duration: number;
  readonly status: StepStatus;
  readonly value: unknown;
  /** The options of the operation as they were then, with their templates. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Template paths without a value. */
  readonly missing: readonly string[];
  /** How often it ran, from 1. */
  readonly attempts: number;
  /** Secrets that the run noted with this operation. */
  readonly secrets: readonly string[];
}

/** An operation that waits before it ends (`sleep`), or before it runs once more (`retry`). */
export interface StoredWait {
  /** Milliseconds since 1970. */
  readonly until: number;
  /** The attempt that follows the wait, from 1. */
  readonly attempt: number;
}

export type WaitReason = 'sleep' | 'retry';

/** The state of a run between its operations, by their positions in the run, from 0. */
export interface RunState {
  /** Whether each change is stored at once; else the state is kept in memory. */
  readonly isStored: boolean;
  /** The operation that has ended at a position, in this process or in an earlier one. */
  step(position: number): StoredStep | undefined;
  /** @throws RunBreak where another process has added it, or the database is not reached. */
  addStep(position: number, step: StoredStep): Promise<void>;
  wait(position: number, reason: WaitReason): StoredWait | undefined;
  /** @throws RunBreak where the database is not reached. */
  setWait(position: number, reason: WaitReason, wait: StoredWait): Promise<void>;
  /** The state of a run that the operation at a position starts, one of several. */
  nested(position: number, element: number): RunState;
  /** Whether the history has this run already: one that was started by another run. */
  isRecorded(): boolean;
  setRecorded(): Promise<void>;
}

/** Where the entries of a state are kept. */
export interface RunStateEntries {
  readonly isStored: boolean;
  get(path: string): unknown;
  /** Adds an entry that no process may have added before. */
  add(path: string, content: unknown): Promise<void>;
  set(path: string, content: unknown): Promise<void>;
}

/** The state of a run, whose entries stand at paths: `2` is the third operation, `2.0.1` the second one of the first run that it started. */
export function createRunState(entries: RunStateEntries, prefix = ''): RunState {
  const isNested = prefix !== '';
  return {
    isStored: entries.isStored,
    step: (position) => entries.get(`${prefix}${position}`) as StoredStep | undefined,
    addStep: (position, step) => entries.add(`${prefix}${position}`, step),
    wait: (position, reason) => entries.get(`${prefix}${position}~${reason}`) as StoredWait | undefined,
    setWait: (position, reason, wait) => entries.set(`${prefix}${position}~${reason}`, wait),
    nested: (position, element) => createRunState(entries, `${prefix}${position}.${element}.`),
    // The end of a run that no other run started is recorded with its state (`StoredRun`).
    isRecorded: () => isNested && entries.get(`${prefix}~recorded`) === true,
    setRecorded: async () => {
      if (isNested) await entries.set(`${prefix}~recorded`, true);
    },
  };
}
