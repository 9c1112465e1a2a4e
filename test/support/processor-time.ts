/**
 * Milliseconds of CPU that this process has used so far, in all its threads. Tests of how much work something is compare two
 * of these: the clock would also count work of other processes.
 */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
