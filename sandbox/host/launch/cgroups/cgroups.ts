import type { Cgroups } from './group.ts';
import { openV1 } from './v1.ts';
import { openV2 } from './v2.ts';

/** Opens cgroup v2, else cgroup v1, else returns null. Limits of memory and tasks must be writable. */
export async function openCgroups(): Promise<Cgroups | null> {
  return (await openV2()) ?? (await openV1());
}
