import { type Bucket, isMissing, isUnknownThere } from './bucket.ts';
import { ANSWERING } from './time-limits.ts';

const limits = { requestTimeout: ANSWERING };

/** Uploads first: one that is completed at this very moment becomes an object, which goes next. */
export async function removeObject(bucket: Bucket, name: string): Promise<void> {
  for (const id of await unfinishedUploads(bucket, name)) await abortUpload(bucket, name, id);
  await deleteObject(bucket, name);
}

export async function deleteObject({ bucket, key, ask }: Bucket, name: string): Promise<void> {
  try {
    await ask(`removing ${name}`, (s3) => s3.deleteObject({ Bucket: bucket, Key: key(name) }, limits));
  } catch (error) {
    // AWS does not mind, but not all are like that.
    if (!isMissing(error)) throw error;
  }
}

/** Drops the parts of an upload that nobody will complete; no error where there is none. */
export async function abortUpload({ bucket, key, ask }: Bucket, name: string, id: string | undefined): Promise<void> {
  try {
    await ask(`abandoning ${name}`, (s3) =>
      s3.abortMultipartUpload({ Bucket: bucket, Key: key(name), UploadId: id }, limits),
    );
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** The uploads of exactly this object. */
async function unfinishedUploads({ bucket, key, ask }: Bucket, name: string): Promise<string[]> {
  const found: string[] = [];
  let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
  for (;;) {
    const input = { Bucket: bucket, Prefix: key(name), ...from };
    const page = await ask(`looking for unfinished uploads of ${name}`, (s3) =>
      s3.listMultipartUploads(input, limits),
    ).catch((error: unknown) => {
      // A server that cannot tell has none to tell of.
      if (isUnknownThere(error)) return undefined;
      throw error;
    });
    const uploads = page?.Uploads ?? [];
    for (const { Key, UploadId } of uploads) if (Key === key(name) && UploadId !== undefined) found.push(UploadId);
    // In order of their keys: behind the first longer one there is none of this object.
    if (!page?.IsTruncated || uploads.at(-1)?.Key !== key(name)) return found;
    from = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
  }
}
