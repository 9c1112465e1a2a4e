import { AsyncLocalStorage } from 'node:async_hooks';
import { Cron } from 'croner';
import type { Kit } from './kit.ts';
import { stateOf } from './state.ts';
import { claimTick } from './ticks.ts';

/** Timers take no longer delay; what lies further ahead is waited for in steps. */
const LONGEST_WAIT = 2 ** 31 - 1;
/** A load may come about in the middle of a request, and what runs by the clock is no part of it. */
const outside = AsyncLocalStorage.snapshot();

/** Runs `handler` at the times of the pattern, in one process of the cluster each time. False where there are none. */
export function schedule(kit: Kit, entry: string | undefined, pattern: unknown, handler: unknown): boolean {
  if (typeof handler !== 'function') throw new TypeError('the handler of a schedule must be a function');
  const calendar = calendarOf(pattern);
  if (!calendar) {
    kit.log.warn({ pattern }, 'a schedule is left out: its pattern is not valid');
    return false;
  }
  const { name, leave } = nameFor(kit, `${kit.name}\n${entry ?? ''}\n${String(pattern).trim()}`);
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const run = async (tick: Date): Promise<void> => {
    try {
      if ((await claimTick(kit.deps.db, name, tick)) && !stopped) await handler();
    } catch (error) {
      kit.log.error({ err: error, pattern }, 'a schedule failed');
    }
  };
  const wait = (tick: Date | null): void => {
    if (stopped || !tick) return;
    const left = tick.getTime() - Date.now();
    if (left > 0) {
      timer = setTimeout(() => wait(tick), Math.min(left, LONGEST_WAIT)).unref();
      return;
    }
    void run(tick);
    wait(calendar.nextRun());
  };
  outside(() => wait(calendar.nextRun()));
  kit.scope.add(() => {
    stopped = true;
    clearTimeout(timer);
    leave();
  });
  return true;
}

/** Five positions, or six with seconds first; null for anything else. */
function calendarOf(pattern: unknown): Cron | null {
  if (typeof pattern !== 'string') return null;
  try {
    return new Cron(pattern.trim(), { paused: true, mode: '5-or-6-parts' });
  } catch {
    return null;
  }
}

/** The same in every process: which of several of one kind it is follows from the order in which they register. */
function nameFor(kit: Kit, base: string): { readonly name: string; leave(): void } {
  const { schedules } = stateOf(kit.deps);
  let name = base;
  for (let more = 2; schedules.has(name); more++) name = `${base}\n${more}`;
  schedules.add(name);
  return { name, leave: () => void schedules.delete(name) };
}
