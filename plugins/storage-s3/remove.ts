import { type BucketClient, isMissingObjectError, isNotImplementedS3Error } from './bucket.ts';
import { RESPONSE_TIMEOUT } from './time-limits.ts';

const limits = { requestTimeout: RESPONSE_TIMEOUT };

/**
 * Deletes an object. Unfinished uploads of it are aborted first: one that completes at this moment becomes an object,
 * which is deleted next.
 */
export async function removeS3ObjectAndUploads(bucket: BucketClient, name: string): Promise<void> {
  for (const id of await unfinishedUploads(bucket, name)) await abortS3MultipartUpload(bucket, name, id);
  await deleteS3Object(bucket, name);
}

export async function deleteS3Object({ bucket, key, request }: BucketClient, name: string): Promise<void> {
  try {
    await request(`removing ${name}`, (s3) => s3.deleteObject({ Bucket: bucket, Key: key(name) }, limits));
  } catch (error) {
    // AWS answers 204 for a missing object, other servers 404.
    if (!isMissingObjectError(error)) throw error;
  }
}

/** Aborts an upload and drops its parts. A missing upload is no error. */
export async function abortS3MultipartUpload(
  { bucket, key, request }: BucketClient,
  name: string,
  id: string | undefined,
): Promise<void> {
  try {
    await request(`abandoning ${name}`, (s3) =>
      s3.abortMultipartUpload({ Bucket: bucket, Key: key(name), UploadId: id }, limits),
    );
  } catch (error) {
    if (!isMissingObjectError(error)) throw error;
  }
}

/** Unfinished uploads of exactly this object. */
async function unfinishedUploads({ bucket, key, request }: BucketClient, name: string): Promise<string[]> {
  const found: string[] = [];
  let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
  for (;;) {
    const input = { Bucket: bucket, Prefix: key(name), ...from };
    const page = await request(`looking for unfinished uploads of ${name}`, (s3) =>
      s3.listMultipartUploads(input, limits),
    ).catch((error: unknown) => {
      // A server without this request keeps no unfinished uploads.
      if (isNotImplementedS3Error(error)) return undefined;
      throw error;
    });
    const uploads = page?.Uploads ?? [];
    for (const { Key, UploadId } of uploads) if (Key === key(name) && UploadId !== undefined) found.push(UploadId);
    // Sorted by key: after the first other key there are none of this object.
    if (!page?.IsTruncated || uploads.at(-1)?.Key !== key(name)) return found;
    from = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
  }
}
