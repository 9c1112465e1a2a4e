import type { StorageObjectStat } from '../storage/contract.ts';
import type { BucketClient } from './bucket.ts';
import { RESPONSE_TIMEOUT } from './time-limits.ts';

/** Objects whose names start with `prefix`, page by page. Keys in folders below do not belong to this location. */
export async function* listS3Objects(
  { bucket, key, request }: BucketClient,
  prefix: string,
): AsyncGenerator<StorageObjectStat> {
  const input = { Bucket: bucket, Prefix: key(prefix), Delimiter: '/' };
  let token: string | undefined;
  do {
    const from = token === undefined ? {} : { ContinuationToken: token };
    const page = await request(`listing ${prefix}*`, (s3) =>
      s3.listObjectsV2({ ...input, ...from }, { requestTimeout: RESPONSE_TIMEOUT }),
    );
    for (const { Key, Size, LastModified } of page.Contents ?? []) {
      const name = Key?.slice(key('').length);
      // S3 consoles create an empty object for a folder.
      if (name) yield { name, size: Size ?? 0, modified: LastModified ?? new Date(0) };
    }
    token = page.IsTruncated ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
}
