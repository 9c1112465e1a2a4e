import { readFileSync } from 'node:fs';

/** Measures how long the event loop of this process is blocked. */
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

/** Milliseconds of CPU that the main thread has used; wall-clock time on systems without /proc. */
function mainThreadTime(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
}
