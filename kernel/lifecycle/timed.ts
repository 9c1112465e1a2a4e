import { BootFailure, type BootPhase } from './failure.ts';

export type TimedPhase = Extract<BootPhase, 'migrate' | 'start' | 'stop'>;
export type Timeouts = Readonly<Record<TimedPhase, number>>;
export const TIMEOUTS: Timeouts = { migrate: 300_000, start: 60_000, stop: 10_000 };

/** Runs one hook of one plugin; an error or a hook that never ends carries the plugin's name and the phase. */
export async function timed(
  plugin: string,
  phase: TimedPhase,
  hook: () => Promise<void> | void,
  limits: Timeouts = TIMEOUTS,
): Promise<void> {
  const limit = limits[phase];
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new BootFailure(plugin, phase, `it did not end within ${limit / 1000} s`)), limit);
  });
  try {
    await Promise.race([Promise.resolve().then(hook), expired]);
  } catch (error) {
    throw BootFailure.from(plugin, phase, error);
  } finally {
    clearTimeout(timer);
  }
}
