import { type BootPhase, BootFailure } from './failure.ts';

export const TIMEOUTS: Readonly<Partial<Record<BootPhase, number>>> = { migrate: 300_000, start: 60_000, stop: 10_000 };

/** Runs one hook of one plugin; an error or a hook that never ends carries the plugin's name and the phase. */
export async function timed(plugin: string, phase: BootPhase, hook: () => Promise<void> | void): Promise<void> {
  const limit = TIMEOUTS[phase] ?? 60_000;
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
