const MIB = 2 ** 20;

/**
 * The size of the parts up to a part number. S3 allows 10,000 parts of an object, all but the last with 5 MiB at least.
 */
export interface UploadPartSizeRange {
  /** The last part of this size, counted from 1. */
  readonly upTo: number;
  /** Bytes. */
  readonly size: number;
  /** Where the bytes of a part are collected and kept until the part has been sent. */
  readonly kept: 'memory' | 'disk';
}

export type UploadPartSizePlan = readonly UploadPartSizeRange[];

/**
 * The size of an object is not known before its end, so parts grow: the first 16 GB use parts of 8 MiB in memory, the rest uses
 * temporary files. Together they hold more than the 5 TiB that S3 allows.
 */
export const DEFAULT_UPLOAD_PART_SIZES: UploadPartSizePlan = [
  { upTo: 2000, size: 8 * MIB, kept: 'memory' },
  { upTo: 4000, size: 64 * MIB, kept: 'disk' },
  { upTo: 10_000, size: 1024 * MIB, kept: 'disk' },
];

export function findUploadPartSizeRange(plan: UploadPartSizePlan, number: number): UploadPartSizeRange {
  const step = plan.find(({ upTo }) => number <= upTo);
  if (!step) throw new Error('the object is larger than a bucket can keep');
  return step;
}
