import { release } from 'node:os';
import type { LaunchPlan } from './launch-plan.ts';

/**
 * Whether the kernel counts the tasks of a child separately from those of the service. It counts by user, and since
 * 5.14 by user namespace as well.
 */
export function countsTasksSeparately(
  namespaceMode: LaunchPlan['namespaceMode'],
  uids: LaunchPlan['uids'],
  kernel = release(),
): boolean {
  if (uids !== null) return true;
  const [major = 0, minor = 0] = kernel.split('.').map((part) => Number.parseInt(part, 10));
  return namespaceMode === 'user' && (major > 5 || (major === 5 && minor >= 14));
}
