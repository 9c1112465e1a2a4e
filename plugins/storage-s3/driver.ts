import type { StorageDriver } from '../storage/contract.ts';
import { createBucketClient } from './bucket.ts';
import { listS3Objects } from './list.ts';
import { DEFAULT_UPLOAD_PART_SIZES, type UploadPartSizePlan } from './part-plan.ts';
import { openS3Object, statS3Object } from './read.ts';
import { removeS3ObjectAndUploads } from './remove.ts';
import type { S3Settings } from './settings.ts';
import { writeS3Object } from './write.ts';

/** Opens the storage driver that stores objects in a bucket. Sends no request before the first object. */
export function openS3Driver(
  settings: S3Settings,
  plan: UploadPartSizePlan = DEFAULT_UPLOAD_PART_SIZES,
): StorageDriver {
  const bucket = createBucketClient(settings);
  return {
    open: (name, range) => openS3Object(bucket, name, range),
    stat: (name) => statS3Object(bucket, name),
    list: (prefix) => listS3Objects(bucket, prefix),
    write: (name, source, options) => writeS3Object(bucket, name, source, options?.type, plan),
    remove: (name) => removeS3ObjectAndUploads(bucket, name),
    close: async () => bucket.close(),
  };
}
