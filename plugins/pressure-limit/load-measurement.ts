import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { LoadMeasurement } from './pressure-monitor.ts';

/** Milliseconds between two measurements of the delay; Node counts them in. */
const RESOLUTION = 10;
const NANOSECONDS = 1e6;

/** Measures the load of this process by `perf_hooks`. */
export function startLoadMeasurement(): LoadMeasurement {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
  delays.enable();
  let last = performance.eventLoopUtilization();
  return {
    sample() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      // Without any measurement since the last sample the mean is NaN.
      const delay = Math.max(0, (delays.mean || 0) / NANOSECONDS - RESOLUTION);
      delays.reset();
      const { rss, heapUsed } = process.memoryUsage();
      return { utilization, delay, rss, heapUsed };
    },
    stop: () => void delays.disable(),
  };
}
