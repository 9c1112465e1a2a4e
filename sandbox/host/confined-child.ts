import type { Duplex } from 'node:stream';
import type { Posture } from './posture/confinement-layers.ts';

/** How a child process ended. `isOutOfMemory`: the operating system killed it at its memory limit. */
export interface ChildProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly isOutOfMemory: boolean;
}

/** A confined process with the runner in it. It has sent no message yet. */
export interface ConfinedChild {
  /** Process id of the outermost process on the host's side. */
  readonly pid: number;
  /** The inherited socket pair, which is the only connection to the child. */
  readonly channel: Duplex;
  /** Resolves once the process has ended and was reaped, and its cgroup is removed. Never rejects. */
  readonly ended: Promise<ChildProcessExit>;
  /** SIGKILL to the whole tree; safe to call twice. */
  kill(): void;
  /** Resident bytes of the process that runs the guest; 0 where unknown. */
  resident(): Promise<number>;
  /**
   * Milliseconds of CPU that the guest's thread has used since its start; undefined where the operating system does not
   * report it.
   */
  cpuTime(): number | undefined;
}

export interface ConfinedChildLauncher {
  /** The layers that self-tests proved for children of this launcher. */
  readonly posture: Posture;
  launch(): ConfinedChild;
  /** Kills remaining children and removes files and cgroups. */
  close(): Promise<void>;
}

export interface ConfinedChildLauncherOptions {
  readonly mode: 'auto' | 'required';
  /** Heap of an isolate in bytes; the limit of the process is this and what the runtime needs. */
  readonly memory: number;
  /** The caller never has more children than this at a time. Limits for all children together are computed from it. */
  readonly processes: number;
  readonly log: { info(data: object, text: string): void; warn(data: object, text: string): void };
}
