import type { ExtensionRuntime } from './kit.ts';
import { getFullState } from './state.ts';

/** Runs `handler` at the times of the pattern, in one process of the cluster each time. False where there are none. */
export function addSchedule(
  kit: ExtensionRuntime,
  entry: string | undefined,
  pattern: unknown,
  handler: unknown,
): boolean {
  if (typeof handler !== 'function') throw new TypeError('the handler of a schedule must be a function');
  const service = kit.deps.schedule;
  if (typeof pattern !== 'string' || !service.isPattern(pattern)) {
    kit.log.warn({ pattern }, 'a schedule is left out: its pattern is not valid');
    return false;
  }
  const { name, leave } = reserveName(kit, `${kit.name}\n${entry ?? ''}\n${pattern.trim()}`);
  // A handler that takes long does not keep its next run waiting: extensions expect each time to come.
  const scheduled = service.start({ name, at: pattern, overlap: 'allow', log: kit.log, run: () => handler() });
  kit.undoStack.add(() => {
    void scheduled.stop();
    leave();
  });
  return true;
}

/** The same in every process: which of several of one kind it is follows from the order in which they register. */
function reserveName(kit: ExtensionRuntime, base: string): { readonly name: string; leave(): void } {
  const { schedules } = getFullState(kit.deps);
  let name = base;
  for (let more = 2; schedules.has(name); more++) name = `${base}\n${more}`;
  schedules.add(name);
  return { name, leave: () => void schedules.delete(name) };
}
