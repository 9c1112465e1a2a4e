import type { LauncherOptions } from '../../../sandbox/host/child.ts';
import { type ConfinedLauncher, createLauncher, type Surroundings } from '../../../sandbox/host/launch/launcher.ts';
import { probeSource, type Talk, talkTo } from '../../../sandbox/host/posture/talk.ts';

export const MIB = 1024 * 1024;
export const MEMORY = 64 * MIB;
export const isLinux = process.platform === 'linux';
export const isRoot = process.getuid?.() === 0;

export interface Line {
  readonly level: 'info' | 'warn';
  readonly data: object;
  readonly text: string;
}

export function optionsWith(mode: LauncherOptions['mode'], lines: Line[] = []): LauncherOptions {
  return {
    ...{ mode, memory: MEMORY, processes: 4 },
    log: {
      info: (data, text) => void lines.push({ level: 'info', data, text }),
      warn: (data, text) => void lines.push({ level: 'warn', data, text }),
    },
  };
}

export const launching = (
  mode: LauncherOptions['mode'] = 'auto',
  surroundings: Surroundings = {},
  lines: Line[] = [],
): Promise<ConfinedLauncher> => createLauncher(optionsWith(mode, lines), surroundings);

/** The hostile program in place of the runner, under the same confinement as every real child. */
export async function launchProbe(launcher: ConfinedLauncher) {
  const child = launcher.launchProgram(probeSource());
  const talk: Talk = talkTo(child);
  if (!(await talk.ready)) throw new Error('the hostile program did not start');
  return { child, ask: talk.ask };
}

/** Polls until it holds; throws after the time. Milliseconds. */
export async function until(holds: () => boolean, patience = 30_000): Promise<void> {
  const deadline = Date.now() + patience;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('it did not come to hold');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
