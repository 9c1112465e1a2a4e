import type { CgroupFactory } from './group.ts';
import { openCgroupsV1 } from './v1.ts';
import { openCgroupsV2 } from './v2.ts';

/** Opens cgroup v2, else cgroup v1, else returns null. Limits of memory and tasks must be writable. */
export async function openCgroups(): Promise<CgroupFactory | null> {
  return (await openCgroupsV2()) ?? (await openCgroupsV1());
}
