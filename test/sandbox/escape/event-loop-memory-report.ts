/**
 * Preloaded into the service under test. On SIGUSR2 this module writes the longest block of the event loop since the last
 * signal and the resident memory to the file ESCAPE_WATCH.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const path = process.env.ESCAPE_WATCH as string;
const delay = monitorEventLoopDelay({ resolution: 2 });
delay.enable();
let sequence = 0;

process.on('SIGUSR2', () => {
  const report = { sequence: ++sequence, longest: delay.max / 1e6, rss: process.memoryUsage.rss() };
  delay.reset();
  // Renamed in one step, so that no reader sees an incomplete report.
  writeFileSync(`${path}.new`, JSON.stringify(report));
  renameSync(`${path}.new`, path);
});
