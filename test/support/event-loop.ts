import { readFileSync } from 'node:fs';

/** Looks at the event loop of this process every few milliseconds. */
export interface EventLoopWatch {
  /**
   * The longest time in milliseconds that the main thread worked since the last `reset` without getting to its timers. Time
   * spent waiting for a core does not count, nor time blocked until a child process gets one.
   */
  longest(): number;
  reset(): void;
  stop(): void;
}

const EVERY = 5;

export function watchEventLoop(): EventLoopWatch {
  let longest = 0;
  let last = mainThreadTime();
  const look = () => {
    const now = mainThreadTime();
    longest = Math.max(longest, now - last);
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
      last = mainThreadTime();
    },
    stop: () => clearInterval(timer),
  };
}

/** Milliseconds that the main thread has been on a core; those of the clock where the operating system does not count them. */
function mainThreadTime(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
}
