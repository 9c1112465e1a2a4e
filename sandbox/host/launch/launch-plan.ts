import type { CgroupFactory } from './cgroups/group.ts';
import type { UidPool } from './uids.ts';

/**
 * How children are started: the layers that the launcher tries to apply. Only the self-test proves which of them hold.
 */
export interface ChildLaunchPlan {
  /**
   * `root` creates the namespaces as root and drops root inside; `user` creates a user namespace first; `none` starts
   * the program without namespaces.
   */
  readonly namespaceMode: 'root' | 'user' | 'none';
  readonly seccomp: boolean;
  /** User ids for children, where the service is root. */
  readonly uids: UidPool | null;
  readonly cgroups: CgroupFactory | null;
  readonly limits: ProcessLimits | null;
  /** Memory limit of a child's control group in bytes. */
  readonly memory: number;
}

/** Limits of a process, set by prlimit right before Node. */
export interface ProcessLimits {
  /** Bytes of address space; null until the self-test has measured a healthy child. */
  readonly addresses: number | null;
  /** Threads of the child's user; null where the kernel would also count threads of the service. */
  readonly tasks: number | null;
}

/**
 * The whole environment of a child. It sets one arena of the C library for all threads: each arena reserves 64 MiB of
 * address space, and changing threads would exhaust the limit of a healthy child.
 */
export const CHILD_ENVIRONMENT: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '1' };
/** Maximum of open files of a child. Node itself has 19. */
export const MAX_OPEN_FILES = 64;
/**
 * Maximum of threads of a child. Measured, a child has 4 to 7 at work, and libuv starts up to 4 more where they are
 * used.
 */
export const MAX_CHILD_THREADS = 32;
/** Two processes of bubblewrap also count in the group: one outside of the namespace and the first one inside. */
export const BUBBLEWRAP_TASKS = 2;

const MIB = 1024 * 1024;
/**
 * What a process with one isolate touches besides the heap of the guest: 20 MiB of its own, up to 35 MiB of the Node
 * binary where no other process has it in memory, and room for messages and garbage.
 */
export const CHILD_RUNTIME_MEMORY_BYTES = 96 * MIB;
/**
 * Address space in bytes above that of a ready child with an isolate. Measured: a heap at its limit briefly takes twice
 * its size, and 128 MiB are for stacks and allocation arenas of further threads.
 */
export const computeAddressSpaceHeadroom = (memory: number): number => 2 * memory + 128 * MIB;
