import type { StoredObject } from '../storage/contract.ts';
import type { Bucket } from './bucket.ts';
import { ANSWERING } from './time-limits.ts';

/** Objects whose names begin so, a page at a time. What lies in folders below is no object of this location. */
export async function* listObjects({ bucket, key, ask }: Bucket, prefix: string): AsyncGenerator<StoredObject> {
  const input = { Bucket: bucket, Prefix: key(prefix), Delimiter: '/' };
  let token: string | undefined;
  do {
    const from = token === undefined ? {} : { ContinuationToken: token };
    const page = await ask(`listing ${prefix}*`, (s3) =>
      s3.listObjectsV2({ ...input, ...from }, { requestTimeout: ANSWERING }),
    );
    for (const { Key, Size, LastModified } of page.Contents ?? []) {
      const name = Key?.slice(key('').length);
      // Consoles make an empty object for a folder of that name.
      if (name) yield { name, size: Size ?? 0, modified: LastModified ?? new Date(0) };
    }
    token = page.IsTruncated ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
}
