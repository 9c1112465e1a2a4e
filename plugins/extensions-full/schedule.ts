import type { ExtensionRuntime } from './extension-runtime.ts';
import { getFullAuthorityRegistrations } from './hook-registry.ts';

/**
 * Runs `handler` at the times of the pattern, each time in one process of the cluster. False if the pattern is not
 * valid.
 */
export function addSchedule(
  runtime: ExtensionRuntime,
  entry: string | undefined,
  pattern: unknown,
  handler: unknown,
): boolean {
  if (typeof handler !== 'function') throw new TypeError('the handler of a schedule must be a function');
  const service = runtime.deps.schedule;
  if (typeof pattern !== 'string' || !service.isPattern(pattern)) {
    runtime.log.warn({ pattern }, 'a schedule is left out: its pattern is not valid');
    return false;
  }
  // The process of a command ends with it, and would take a run from the processes that serve.
  if (runtime.deps.isCommandProcess()) return true;
  const { name, release } = reserveName(runtime, `${runtime.name}\n${entry ?? ''}\n${pattern.trim()}`);
  // Runs may overlap: extensions expect a run at each time, also if the previous one still runs.
  const scheduled = service.start({ name, at: pattern, overlap: 'allow', log: runtime.log, run: () => handler() });
  runtime.undoStack.add(() => {
    void scheduled.stop();
    release();
  });
  return true;
}

/** Reserves a name that is the same in every process: equal schedules are numbered in the order of registration. */
function reserveName(runtime: ExtensionRuntime, base: string): { readonly name: string; release(): void } {
  const { schedules } = getFullAuthorityRegistrations(runtime.deps);
  let name = base;
  for (let more = 2; schedules.has(name); more++) name = `${base}\n${more}`;
  schedules.add(name);
  return { name, release: () => void schedules.delete(name) };
}
