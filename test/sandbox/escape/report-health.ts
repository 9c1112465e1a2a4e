/**
 * Loaded into a service before all else: on SIGUSR2 it writes how long its event loop stood still since the last time, and
 * what it holds, to the file named by ESCAPE_WATCH.
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
  // In one step, so that whoever reads never sees half of it.
  writeFileSync(`${path}.new`, JSON.stringify(report));
  renameSync(`${path}.new`, path);
});
