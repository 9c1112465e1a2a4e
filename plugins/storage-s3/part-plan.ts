const MIB = 2 ** 20;

/** How large the parts of an object are: S3 takes 10,000 of them at most, all but the last with 5 MiB at least. */
export interface PartStep {
  /** The last part that is so large, counted from one. */
  readonly upTo: number;
  /** Bytes. */
  readonly size: number;
  /** Where a part waits until it is whole and has been sent, which may take several attempts. */
  readonly kept: 'memory' | 'disk';
}

export type PartPlan = readonly PartStep[];

/**
 * The size of an object is not known before its end, so parts grow: the first 16 GB go through 8 MiB of memory each, and
 * what is larger through temporary files. All together are more than the 5 TiB that an object may have.
 */
export const PLAN: PartPlan = [
  { upTo: 2000, size: 8 * MIB, kept: 'memory' },
  { upTo: 4000, size: 64 * MIB, kept: 'disk' },
  { upTo: 10_000, size: 1024 * MIB, kept: 'disk' },
];

export function stepOf(plan: PartPlan, number: number): PartStep {
  const step = plan.find(({ upTo }) => number <= upTo);
  if (!step) throw new Error('the object is larger than a bucket can keep');
  return step;
}
