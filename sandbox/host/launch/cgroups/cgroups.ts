import type { Cgroups } from './group.ts';
import { openV1 } from './v1.ts';
import { openV2 } from './v2.ts';

/** The newer hierarchy, else the older one, else null: limits of memory and tasks must be writable here. */
export async function openCgroups(): Promise<Cgroups | null> {
  return (await openV2()) ?? (await openV1());
}
