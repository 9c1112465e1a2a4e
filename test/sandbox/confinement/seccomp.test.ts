import { expect } from 'chai';
import { buildSeccompFilter } from '../../../sandbox/host/launch/seccomp.ts';
import { ALLOWED_SYSCALLS, listSyscallNumbers } from '../../../sandbox/host/launch/syscalls.ts';

const MACHINES = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
type Machine = keyof typeof MACHINES;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

/** Interprets a seccomp filter (BPF) as the Linux kernel does, for the instructions that the filter uses. */
function runFilter(filter: Buffer, architecture: number, number: number, ...parameters: readonly number[]): number {
  const record = Buffer.alloc(64);
  record.writeUInt32LE(number, 0);
  record.writeUInt32LE(architecture, 4);
  for (const [index, value] of parameters.entries()) record.writeBigUInt64LE(BigInt(value), 16 + index * 8);
  let held = 0;
  for (let at = 0; ; at += 1) {
    const [code, yes, no, operand] = [
      filter.readUInt16LE(at * 8),
      filter.readUInt8(at * 8 + 2),
      filter.readUInt8(at * 8 + 3),
      filter.readUInt32LE(at * 8 + 4),
    ];
    if (code === 0x06) return operand;
    if (code === 0x20) held = record.readUInt32LE(operand);
    else {
      const holds = { 21: held === operand, 37: held > operand, 53: held >= operand, 69: (held & operand) !== 0 };
      expect(holds).to.have.property(String(code));
      at += holds[code as keyof typeof holds] ? yes : no;
    }
  }
}

const REFUSED: Readonly<Record<string, readonly [number, number]>> = {
  socket: [41, 198],
  socketpair: [53, 199],
  connect: [42, 203],
  bind: [49, 200],
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
  sendto: [44, 206],
  sendmsg: [46, 211],
  sendmmsg: [307, 269],
  recvmsg: [47, 212],
  recvfrom: [45, 207],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kill: [62, 129],
  tkill: [200, 130],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  pidfd_send_signal: [424, 424],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsmount: [432, 432],
  mount_setattr: [442, 442],
  unshare: [272, 97],
  setns: [308, 268],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  memfd_create: [319, 279],
  userfaultfd: [323, 282],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  swapon: [167, 224],
  reboot: [169, 142],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  personality: [135, 92],
  seccomp: [317, 277],
  setuid: [105, 146],
  setgid: [106, 144],
  setsid: [112, 157],
  execveat: [322, 281],
  mknodat: [259, 33],
  unlinkat: [263, 35],
  renameat2: [316, 276],
  linkat: [265, 37],
  symlinkat: [266, 36],
  fchmod: [91, 52],
  fchownat: [260, 54],
  ftruncate: [77, 46],
  mkdirat: [258, 34],
  sched_setaffinity: [203, 122],
  quotactl: [179, 60],
  acct: [163, 89],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  sethostname: [170, 161],
};

for (const [machine, architecture] of Object.entries(MACHINES) as [Machine, number][]) {
  describe(`confinement: the seccomp filter on ${machine}`, () => {
    const filter = buildSeccompFilter(machine) as Buffer;
    const numberOf = ([x64, arm64]: readonly [number, number]) => (machine === 'x64' ? x64 : arm64);
    const clone = numberOf([56, 220]);

    it('the filter has a size and instructions that the kernel accepts', () => {
      expect(filter.length % 8).to.equal(0);
      expect(filter.length / 8).to.be.below(4096);
    });

    it('the filter kills a process that uses another binary interface', () => {
      const other = machine === 'x64' ? MACHINES.arm64 : MACHINES.x64;
      expect(runFilter(filter, other, 0)).to.equal(KILL);
      expect(runFilter(filter, 0x40000003, 0)).to.equal(KILL);
      if (machine === 'x64') expect(runFilter(filter, architecture, 0x40000000 + 59)).to.equal(KILL);
    });

    it('the filter allows every listed call', () => {
      for (const number of listSyscallNumbers(ALLOWED_SYSCALLS, machine))
        expect(runFilter(filter, architecture, number)).to.equal(ALLOW);
    });

    it('the list names no call twice', () => {
      const numbers = listSyscallNumbers(ALLOWED_SYSCALLS, machine);
      expect(new Set(numbers).size).to.equal(numbers.length);
    });

    for (const [name, numbers] of Object.entries(REFUSED)) {
      it(`the filter refuses ${name}`, () => {
        expect(runFilter(filter, architecture, numberOf(numbers))).to.equal(EPERM);
      });
    }

    it('clone may create threads, but neither processes nor namespaces', () => {
      const thread = 0x3d0f00;
      expect(runFilter(filter, architecture, clone, thread)).to.equal(ALLOW);
      expect(runFilter(filter, architecture, clone, 0x1200011)).to.equal(EPERM);
      expect(runFilter(filter, architecture, clone, 0x4111)).to.equal(EPERM);
      for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
        expect(runFilter(filter, architecture, clone, thread | flag)).to.equal(EPERM);
      }
    });

    it('calls with a fallback in the C library answer ENOSYS', () => {
      expect(runFilter(filter, architecture, 435)).to.equal(ENOSYS);
      expect(runFilter(filter, architecture, 425)).to.equal(ENOSYS);
      expect(runFilter(filter, architecture, 5000)).to.equal(ENOSYS);
    });

    it('prctl and ioctl are allowed with listed arguments only', () => {
      const prctl = numberOf([157, 167]);
      const ioctl = numberOf([16, 29]);
      expect(runFilter(filter, architecture, prctl, 15)).to.equal(ALLOW);
      expect(runFilter(filter, architecture, prctl, 38, 1)).to.equal(ALLOW);
      for (const option of [1, 4, 22, 35, 0x59616d61])
        expect(runFilter(filter, architecture, prctl, option)).to.equal(EPERM);
      expect(runFilter(filter, architecture, ioctl, 3, 0x5421)).to.equal(ALLOW);
      // TIOCSTI, which injects terminal input, and TIOCLINUX, a console command.
      for (const request of [0x5412, 0x541c])
        expect(runFilter(filter, architecture, ioctl, 0, request)).to.equal(EPERM);
    });
  });
}

describe('buildSeccompFilter', () => {
  it('buildSeccompFilter returns null for a machine without a list', () => {
    expect(buildSeccompFilter('ia32')).to.equal(null);
    expect(buildSeccompFilter('riscv64')).to.equal(null);
  });
});
