import { release } from 'node:os';
import type { ChildLaunchPlan } from './launch-plan.ts';

/**
 * Whether Linux counts the threads of a child separately from those of the service for the task limit of prlimit. Linux
 * counts by user, and since 5.14 by user namespace as well.
 */
export function isTaskLimitPerChild(
  namespaceMode: ChildLaunchPlan['namespaceMode'],
  uids: ChildLaunchPlan['uids'],
  kernel = release(),
): boolean {
  if (uids !== null) return true;
  const [major = 0, minor = 0] = kernel.split('.').map((part) => Number.parseInt(part, 10));
  return namespaceMode === 'user' && (major > 5 || (major === 5 && minor >= 14));
}
