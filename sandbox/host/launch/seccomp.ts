import {
  ALLOWED_SYSCALLS,
  CLONE_SYSCALL,
  type CpuArchitecture,
  ENOSYS_SYSCALLS,
  IOCTL,
  listSyscallNumbers,
  NEWEST_KNOWN_SYSCALL,
  PRCTL,
} from './syscalls.ts';

/** One instruction of the seccomp filter (classic BPF): code, jump if true, jump if false, operand. */
type Instruction = readonly [code: number, yes: number, no: number, operand: number];

const LOAD = 0x20;
const EQUAL = 0x15;
const GREATER = 0x25;
const AT_LEAST = 0x35;
const ANY_BIT = 0x45;
const RETURN = 0x06;

/**
 * Offsets of fields in `seccomp_data`, the input of the filter. Arguments are 64 bits wide, the lower half first on
 * both architectures.
 */
const NUMBER = 0;
const ARCHITECTURE = 4;
const ARGUMENT = [16, 24] as const;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

const ARCHITECTURES = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
/** System call numbers from here on belong to the x32 binary interface. */
const X32 = 0x40000000;

const CLONE_THREAD = 0x00010000;
/** Mask of all flags of `clone` that create a namespace. */
const CLONE_NEW = 0x7e020000;
/**
 * Allowed options of `prctl`: names of threads and mappings; capabilities kept over the change of user and given up; no
 * new privileges.
 */
const PRCTL_OPTIONS = [7, 8, 15, 16, 23, 24, 27, 28, 38, 39, 47, 0x53564d41];
/**
 * Allowed requests of `ioctl`: whether a descriptor is a terminal and of which size, the number of bytes to read,
 * close-on-exec, non-blocking.
 */
const IOCTL_REQUESTS = [0x5401, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451, 0x802c542a];

const returnValue = (value: number): Instruction => [RETURN, 0, 0, value];
const load = (offset: number): Instruction => [LOAD, 0, 0, offset];
const returnIf = (code: number, operand: number, value: number): readonly Instruction[] => [
  [code, 0, 1, operand],
  returnValue(value),
];
/** Instructions that run `then` for this system call. `then` must end with a return. */
const onCall = (
  row: Parameters<typeof listSyscallNumbers>[0][number],
  machine: CpuArchitecture,
  then: readonly Instruction[],
) => listSyscallNumbers([row], machine).flatMap((number): Instruction[] => [[EQUAL, 0, then.length, number], ...then]);

/**
 * Builds the seccomp filter as `sock_filter` records of eight bytes; null for an architecture without a list of system
 * calls.
 */
export function buildSeccompFilter(machine: string): Buffer | null {
  if (machine !== 'x64' && machine !== 'arm64') return null;
  const instructions = buildProgram(machine);
  const bytes = Buffer.alloc(instructions.length * 8);
  instructions.forEach(([code, yes, no, operand], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(yes, index * 8 + 2);
    bytes.writeUInt8(no, index * 8 + 3);
    bytes.writeUInt32LE(operand, index * 8 + 4);
  });
  return bytes;
}

function buildProgram(machine: CpuArchitecture): readonly Instruction[] {
  return [
    load(ARCHITECTURE),
    [EQUAL, 1, 0, ARCHITECTURES[machine]],
    returnValue(KILL),
    load(NUMBER),
    ...(machine === 'x64' ? returnIf(AT_LEAST, X32, KILL) : []),
    ...listSyscallNumbers(ALLOWED_SYSCALLS, machine).flatMap((number) => returnIf(EQUAL, number, ALLOW)),
    // Threads without new namespaces only. Any other clone would create a process.
    ...onCall(CLONE_SYSCALL, machine, [
      load(ARGUMENT[0]),
      ...returnIf(ANY_BIT, CLONE_NEW, EPERM),
      ...returnIf(ANY_BIT, CLONE_THREAD, ALLOW),
      returnValue(EPERM),
    ]),
    ...onCall(PRCTL, machine, [
      load(ARGUMENT[0]),
      ...PRCTL_OPTIONS.flatMap((option) => returnIf(EQUAL, option, ALLOW)),
      returnValue(EPERM),
    ]),
    ...onCall(IOCTL, machine, [
      load(ARGUMENT[1]),
      ...IOCTL_REQUESTS.flatMap((request) => returnIf(EQUAL, request, ALLOW)),
      returnValue(EPERM),
    ]),
    ...listSyscallNumbers(ENOSYS_SYSCALLS, machine).flatMap((number) => returnIf(EQUAL, number, ENOSYS)),
    ...returnIf(GREATER, NEWEST_KNOWN_SYSCALL, ENOSYS),
    returnValue(EPERM),
  ];
}
