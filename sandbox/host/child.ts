import type { Duplex } from 'node:stream';
import type { Posture } from './posture/posture.ts';

/** How a child ended. `memory` where the kernel killed it at its limit. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly isOutOfMemory: boolean;
}

/** A confined process with the runner in it. It has said nothing yet. */
export interface Child {
  /** Of the outermost process on this side. */
  readonly pid: number;
  /** The inherited socket pair: the only way in or out. */
  readonly channel: Duplex;
  /** Resolves once it is gone and reaped, and its cgroup removed. Never rejects. */
  readonly ended: Promise<ChildEnd>;
  /** SIGKILL to the whole tree; safe to call twice. */
  kill(): void;
  /** Resident bytes of the process that runs the guest; 0 where unknown. */
  resident(): Promise<number>;
  /** Milliseconds of CPU that the guest's thread has used since its start; undefined where the system does not tell. */
  cpuTime(): number | undefined;
}

export interface Launcher {
  /** What was proved to hold for the children of this launcher. */
  readonly posture: Posture;
  launch(): Child;
  /** Kills what is left and removes files and cgroups. */
  close(): Promise<void>;
}

export interface LauncherOptions {
  readonly mode: 'auto' | 'required';
  /** Heap of an isolate in bytes; the limit of the process is this and what the runtime needs. */
  readonly memory: number;
  /** Above this, `launch` is never called: for limits that hold for all of them. */
  readonly processes: number;
  readonly log: { info(data: object, text: string): void; warn(data: object, text: string): void };
}
