/**
 * Milliseconds of CPU that this process has used so far, in all its threads. Tests of how much work something is compare two
 * of these: the clock would count what the machine does for others, too.
 */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
