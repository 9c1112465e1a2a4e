import type { JobQueue } from '../../queue/contract.ts';

/** Milliseconds for which a count of jobs holds: clients may ask at will. */
const MAX_AGE = 1000;

interface JobCount {
  readonly at: number;
  readonly counted: Promise<number>;
  /** Jobs that this process may have added since. */
  added: number;
}

/** Bounds the unfinished jobs of a queue. Several processes may pass a limit by what they add within a second. */
export interface JobRoom {
  /** Whether one more job has room, of a group or of all. @throws SERVICE_UNAVAILABLE where the database is not reached. */
  has(limit: number, group?: string): Promise<boolean>;
}

export function createJobRoom(queue: Pick<JobQueue<never>, 'countUnfinished'>): JobRoom {
  const counts = new Map<string | undefined, JobCount>();
  return {
    async has(limit, group) {
      const now = Date.now();
      let count = counts.get(group);
      if (!count || now - count.at > MAX_AGE) {
        const counted = queue.countUnfinished(limit, group);
        count = { at: now, counted, added: 0 };
        counts.set(group, count);
        counted.catch(() => counts.delete(group));
      }
      count.added++;
      return (await count.counted) + count.added <= limit;
    },
  };
}
