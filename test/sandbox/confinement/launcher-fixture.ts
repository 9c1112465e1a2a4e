import type { LauncherOptions } from '../../../sandbox/host/child.ts';
import {
  type ConfinedLauncher,
  createLauncher,
  type LaunchEnvironment,
} from '../../../sandbox/host/launch/launcher.ts';
import { createProbeClient, type ProbeClient, readProbeSource } from '../../../sandbox/host/posture/probe-client.ts';

export const MIB = 1024 * 1024;
export const MEMORY = 64 * MIB;
export const isLinux = process.platform === 'linux';
export const isRoot = process.getuid?.() === 0;

export interface LogLine {
  readonly level: 'info' | 'warn';
  readonly data: object;
  readonly text: string;
}

export function createOptions(mode: LauncherOptions['mode'], lines: LogLine[] = []): LauncherOptions {
  return {
    ...{ mode, memory: MEMORY, processes: 4 },
    log: {
      info: (data, text) => void lines.push({ level: 'info', data, text }),
      warn: (data, text) => void lines.push({ level: 'warn', data, text }),
    },
  };
}

export const createTestLauncher = (
  mode: LauncherOptions['mode'] = 'auto',
  environment: LaunchEnvironment = {},
  lines: LogLine[] = [],
): Promise<ConfinedLauncher> => createLauncher(createOptions(mode, lines), environment);

/** Launches the probe program in place of the runner, under the same confinement as every real child. */
export async function launchProbe(launcher: ConfinedLauncher) {
  const child = launcher.launchProgram(readProbeSource());
  const client: ProbeClient = createProbeClient(child);
  if (!(await client.ready)) throw new Error('the hostile program did not start');
  return { child, ask: client.ask };
}

/** Polls until the condition holds. Throws after `timeout` milliseconds. */
export async function until(condition: () => boolean, timeout = 30_000): Promise<void> {
  const deadline = Date.now() + timeout;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it did not come to hold');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
