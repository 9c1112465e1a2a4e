import type { StorageDriver } from '../storage/contract.ts';
import { createBucketClient } from './bucket.ts';
import { listObjects } from './list.ts';
import { DEFAULT_PART_PLAN, type PartPlan } from './part-plan.ts';
import { openObject, statObject } from './read.ts';
import { removeObject } from './remove.ts';
import type { S3Settings } from './settings.ts';
import { writeObject } from './write.ts';

/** Opens the storage driver that stores objects in a bucket. Sends no request before the first object. */
export function openS3Driver(settings: S3Settings, plan: PartPlan = DEFAULT_PART_PLAN): StorageDriver {
  const bucket = createBucketClient(settings);
  return {
    open: (name, range) => openObject(bucket, name, range),
    stat: (name) => statObject(bucket, name),
    list: (prefix) => listObjects(bucket, prefix),
    write: (name, source, options) => writeObject(bucket, name, source, options?.type, plan),
    remove: (name) => removeObject(bucket, name),
    close: async () => bucket.close(),
  };
}
