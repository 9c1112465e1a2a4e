/**
 * Milliseconds of CPU that this process has used so far, in all its threads. Tests measure work as the difference of two calls,
 * since wall-clock time would include the work of other processes.
 */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
