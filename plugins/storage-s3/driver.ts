import type { StorageDriver } from '../storage/contract.ts';
import { createBucket } from './bucket.ts';
import { listObjects } from './list.ts';
import { type PartPlan, PLAN } from './part-plan.ts';
import { openObject, statObject } from './read.ts';
import { removeObject } from './remove.ts';
import type { S3Settings } from './settings.ts';
import { writeObject } from './write.ts';

/** Objects in a bucket. Nothing is asked of the server before the first of them. */
export function openS3(settings: S3Settings, plan: PartPlan = PLAN): StorageDriver {
  const bucket = createBucket(settings);
  return {
    open: (name, range) => openObject(bucket, name, range),
    stat: (name) => statObject(bucket, name),
    list: (prefix) => listObjects(bucket, prefix),
    write: (name, source, options) => writeObject(bucket, name, source, options?.type, plan),
    remove: (name) => removeObject(bucket, name),
    close: async () => bucket.close(),
  };
}
