import { readFileSync } from 'node:fs';

/** Looks at the event loop of this process every few milliseconds. */
export interface EventLoopWatch {
  /**
   * The longest time in milliseconds that the loop stood still since the last `reset`, without what the main thread waited
   * for a core meanwhile: a busy machine is no fault of the program.
   */
  longest(): number;
  reset(): void;
  stop(): void;
}

const EVERY = 5;

export function watchEventLoop(): EventLoopWatch {
  let longest = 0;
  let last = ownTime();
  const look = () => {
    const now = ownTime();
    longest = Math.max(longest, now - last - EVERY);
    last = now;
  };
  const timer = setInterval(look, EVERY);
  return {
    longest() {
      look();
      return longest;
    },
    reset() {
      longest = 0;
      last = ownTime();
    },
    stop: () => clearInterval(timer),
  };
}

/** Milliseconds in which the main thread ran, slept or was blocked, but did not wait for a core. */
const ownTime = (): number => performance.now() - waitedForCore();

/** Milliseconds; 0 where the operating system does not count them. */
function waitedForCore(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
