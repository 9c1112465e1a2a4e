/**
 * Architectures for which this file lists the system calls that a confined child may make, with their numbers. Any
 * other call is refused. It is an allow list and not a block list: the calls that Node, V8 and libuv need for a program
 * with one inherited socket are few and change seldom, while kernels add calls with every release. The list comes from
 * traced runs of Node 24 and 26 with isolates, threads, garbage collection and aborts, plus the variants of other C
 * libraries. Where a later Node needs a missing call, the self-test fails and the layer is not claimed.
 */
export type CpuArchitecture = 'x64' | 'arm64';

/** A system call: name, number on x64, number on arm64; null where the architecture does not have it. */
type Syscall = readonly [name: string, x64: number | null, arm64: number | null];

const FILES: readonly Syscall[] = [
  ['read', 0, 63],
  ['write', 1, 64],
  ['readv', 19, 65],
  ['writev', 20, 66],
  ['pread64', 17, 67],
  ['preadv', 295, 69],
  ['lseek', 8, 62],
  ['open', 2, null],
  ['openat', 257, 56],
  ['openat2', 437, 437],
  ['close', 3, 57],
  ['close_range', 436, 436],
  ['stat', 4, null],
  ['lstat', 6, null],
  ['fstat', 5, 80],
  ['newfstatat', 262, 79],
  ['statx', 332, 291],
  ['statfs', 137, 43],
  ['fstatfs', 138, 44],
  ['access', 21, null],
  ['faccessat', 269, 48],
  ['faccessat2', 439, 439],
  ['readlink', 89, null],
  ['readlinkat', 267, 78],
  ['getcwd', 79, 17],
  ['getdents64', 217, 61],
  ['fcntl', 72, 25],
  ['dup', 32, 23],
  ['dup2', 33, null],
  ['dup3', 292, 24],
  ['pipe', 22, null],
  ['pipe2', 293, 59],
];

/**
 * System calls for the socket to the host and for events. libuv queries the type of fd 3 and then only reads and writes
 * it. Calls that name an address or pass a descriptor are not in the list.
 */
const EVENTS: readonly Syscall[] = [
  ['getsockname', 51, 204],
  ['getsockopt', 55, 209],
  ['shutdown', 48, 210],
  ['poll', 7, null],
  ['ppoll', 271, 73],
  ['epoll_create', 213, null],
  ['epoll_create1', 291, 20],
  ['epoll_ctl', 233, 21],
  ['epoll_wait', 232, null],
  ['epoll_pwait', 281, 22],
  ['epoll_pwait2', 441, 441],
  ['eventfd2', 290, 19],
];

const MEMORY: readonly Syscall[] = [
  ['brk', 12, 214],
  ['mmap', 9, 222],
  ['munmap', 11, 215],
  ['mremap', 25, 216],
  ['mprotect', 10, 226],
  ['madvise', 28, 233],
  ['pkey_alloc', 330, 289],
  ['pkey_free', 331, 290],
  ['pkey_mprotect', 329, 288],
  ['membarrier', 324, 283],
  ['map_shadow_stack', 453, 453],
  ['mseal', 462, 462],
];

const THREADS: readonly Syscall[] = [
  ['set_tid_address', 218, 96],
  ['set_robust_list', 273, 99],
  ['get_robust_list', 274, 100],
  ['futex', 202, 98],
  ['futex_waitv', 449, 449],
  ['futex_wake', 454, 454],
  ['futex_wait', 455, 455],
  ['futex_requeue', 456, 456],
  ['rseq', 334, 293],
  ['gettid', 186, 178],
  ['tgkill', 234, 131],
  ['sched_yield', 24, 124],
  ['sched_getaffinity', 204, 123],
  ['sched_getscheduler', 145, 120],
  ['sched_getparam', 143, 121],
  ['sched_get_priority_max', 146, 125],
  ['sched_get_priority_min', 147, 126],
  ['getcpu', 309, 168],
  ['getpriority', 140, 141],
  ['rt_sigaction', 13, 134],
  ['rt_sigprocmask', 14, 135],
  ['rt_sigreturn', 15, 139],
  ['rt_sigpending', 127, 136],
  ['sigaltstack', 131, 132],
  ['restart_syscall', 219, 128],
  ['exit', 60, 93],
  ['exit_group', 231, 94],
  // The reaper that bubblewrap leaves in the namespace waits under the same filter.
  ['wait4', 61, 260],
  ['waitid', 247, 95],
];

const SYSTEM_INFO: readonly Syscall[] = [
  ['clock_gettime', 228, 113],
  ['clock_getres', 229, 114],
  ['clock_nanosleep', 230, 115],
  ['nanosleep', 35, 101],
  ['gettimeofday', 96, 169],
  ['time', 201, null],
  ['times', 100, 153],
  ['getpid', 39, 172],
  ['getppid', 110, 173],
  ['getuid', 102, 174],
  ['geteuid', 107, 175],
  ['getgid', 104, 176],
  ['getegid', 108, 177],
  ['getresuid', 118, 148],
  ['getresgid', 120, 150],
  ['getgroups', 115, 158],
  ['getpgid', 121, 155],
  ['getpgrp', 111, null],
  ['getsid', 124, 156],
  ['getrlimit', 97, 163],
  ['getrusage', 98, 165],
  ['sysinfo', 99, 179],
  ['uname', 63, 160],
  ['getrandom', 318, 278],
  ['arch_prctl', 158, null],
];

/**
 * System calls for the start of a child: bubblewrap loads the filter and executes the rest of the command line under
 * it: setpriv, which drops the identity, prlimit, then Node. Afterwards these calls have no privilege to use, and there
 * is no other program to execute.
 */
const START: readonly Syscall[] = [
  ['execve', 59, 221],
  ['prlimit64', 302, 261],
  ['setrlimit', 160, 164],
  ['capget', 125, 90],
  ['capset', 126, 91],
  ['setresuid', 117, 147],
  ['setresgid', 119, 149],
  ['setgroups', 116, 159],
];

export const ALLOWED_SYSCALLS: readonly Syscall[] = [
  ...FILES,
  ...EVENTS,
  ...MEMORY,
  ...THREADS,
  ...SYSTEM_INFO,
  ...START,
];

/** `clone`, `prctl` and `ioctl` are allowed with some arguments only, which `seccomp.ts` lists. */
export const CLONE_SYSCALL: Syscall = ['clone', 56, 220];
export const PRCTL: Syscall = ['prctl', 157, 167];
export const IOCTL: Syscall = ['ioctl', 16, 29];

/** System calls that the filter answers with ENOSYS, so that the C library and libuv fall back to older calls. */
export const ENOSYS_SYSCALLS: readonly Syscall[] = [
  ['clone3', 435, 435],
  ['io_uring_setup', 425, 425],
];

/** System calls above this number are newer than this list and answered with ENOSYS, as an older kernel does. */
export const NEWEST_KNOWN_SYSCALL = 462;

/** The numbers of these system calls on one architecture. */
export function listSyscallNumbers(rows: readonly Syscall[], machine: CpuArchitecture): readonly number[] {
  return rows.map((row) => row[machine === 'x64' ? 1 : 2]).filter((number) => number !== null);
}
