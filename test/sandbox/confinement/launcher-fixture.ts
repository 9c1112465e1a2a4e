import { createConfinedChildLauncher } from '../../../sandbox/host/launch/launcher.ts';
import { childProcessIdsOf, findGuestPid, readProcStatusLine } from '../../../sandbox/host/launch/proc.ts';
import { createProbeClient, probeValueOf, readProbeSource } from '../../../sandbox/host/posture/probe-client.ts';

export const MIB = 1024 * 1024;
export const TEST_CHILD_MEMORY_BYTES = 64 * MIB;
export const isLinux = process.platform === 'linux';
export const isRoot = process.getuid?.() === 0;

type LauncherOptions = Parameters<typeof createConfinedChildLauncher>[0];
export type TestLauncher = Awaited<ReturnType<typeof createTestLauncher>>;
export type TestMachineOverrides = NonNullable<Parameters<typeof createConfinedChildLauncher>[1]>;

export interface LauncherLogLine {
  readonly level: 'info' | 'warn';
  readonly data: object;
  readonly text: string;
}

function createOptions(mode: LauncherOptions['mode'], lines: LauncherLogLine[]): LauncherOptions {
  return {
    ...{ mode, memory: TEST_CHILD_MEMORY_BYTES, processes: 4 },
    log: {
      info: (data, text) => void lines.push({ level: 'info', data, text }),
      warn: (data, text) => void lines.push({ level: 'warn', data, text }),
    },
  };
}

/** Starts a launcher for children of 64 MiB; its log lines are appended to `lines`. */
export const createTestLauncher = (
  mode: LauncherOptions['mode'] = 'auto',
  environment: TestMachineOverrides = {},
  lines: LauncherLogLine[] = [],
) => createConfinedChildLauncher(createOptions(mode, lines), environment);

/** Launches the probe program in place of the runner, under the same confinement as every real child. */
export async function launchProbe(launcher: TestLauncher) {
  const child = launcher.launchProgram(readProbeSource());
  const { ask, ready } = createProbeClient(child);
  if (!(await ready)) throw new Error('the hostile program did not start');
  return {
    child,
    /** The process that runs the probe program; `child.pid` is the outermost one around it. */
    guestPid: findGuestPid(child.pid),
    /** Makes an attempt and resolves with its value or the code of its failure. */
    ask,
    /** Makes an attempt and resolves with its value; undefined where it failed. */
    read: async (...attempt: Parameters<typeof ask>) => probeValueOf(await ask(...attempt)),
  };
}

export type LaunchedProbe = Awaited<ReturnType<typeof launchProbe>>;

/** Lists the processes of a child: the outermost one, its children, and the one that runs the guest. */
export const listProcessesOfChild = (pid: number) => [...new Set([pid, ...childProcessIdsOf(pid), findGuestPid(pid)])];

/** True once the process has ended, also before its parent process has reaped it. */
export const isProcessGone = (pid: number) => ['', 'Z'].includes(readProcStatusLine(pid, 'State').slice(0, 1));
