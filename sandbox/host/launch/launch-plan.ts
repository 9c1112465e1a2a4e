import type { Cgroups } from './cgroups/group.ts';
import type { UidPool } from './uids.ts';

/** How children are started: which layers are put around them. What really holds is told by the self-test alone. */
export interface LaunchPlan {
  /**
   * `root` makes the namespaces with the rights of root and gives root up inside; `user` makes a user namespace first;
   * `none` starts the program in the surroundings of the service.
   */
  readonly namespaceMode: 'root' | 'user' | 'none';
  readonly seccomp: boolean;
  /** Users to run children as, where the service is root. */
  readonly uids: UidPool | null;
  readonly cgroups: Cgroups | null;
  readonly limits: ProcessLimits | null;
  /** Bytes that may be used, where there are groups. */
  readonly memory: number;
}

/** Limits of a process, set by prlimit right before Node. */
export interface ProcessLimits {
  /** Bytes of addresses; null where it is not known how many a healthy child has. */
  readonly addresses: number | null;
  /** Threads of the child's user; null where the kernel would count those of the service as well. */
  readonly tasks: number | null;
}

/**
 * All that a child is told of its surroundings. One arena of the C library for all threads: each reserves 64 MiB of
 * addresses, and where threads come and go the limit of addresses would end a healthy child.
 */
export const CHILD_ENVIRONMENT: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '1' };
/** Open files: Node itself has 19. */
export const MAX_OPEN_FILES = 64;
/** Threads: measured, a child has 4 to 7 at work, and libuv starts up to 4 more where they are used. */
export const MAX_TASKS = 32;
/** A group also holds what bubblewrap leaves outside of the namespace and as its first process. */
export const BUBBLEWRAP_TASKS = 2;

const MIB = 1024 * 1024;
/**
 * What a process with one isolate touches besides the heap of the guest: 20 MiB of its own, up to 35 MiB of the Node
 * binary where nobody else on the machine has it in memory, and room for what is being read, written and collected.
 */
export const RUNTIME_MEMORY = 96 * MIB;
/**
 * Addresses above those of a ready child with an isolate: measured, a heap at its limit takes twice its size for a
 * moment, and 128 MiB are room for the stacks and allocation arenas of threads that were not needed before.
 */
export const addressHeadroom = (memory: number): number => 2 * memory + 128 * MIB;
