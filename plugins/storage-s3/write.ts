import type { PutObjectCommandInput } from '@aws-sdk/client-s3';
import type { BucketClient } from './bucket.ts';
import { beginS3MultipartUpload, type S3MultipartUpload } from './multipart.ts';
import type { UploadPart } from './part.ts';
import type { UploadPartSizePlan } from './part-plan.ts';
import { deleteS3Object } from './remove.ts';
import { splitIntoParts } from './split-into-parts.ts';
import { uploadTimeout } from './time-limits.ts';

/** Parameters of a new object. */
export type S3ObjectParameters = Pick<
  PutObjectCommandInput,
  'Bucket' | 'Key' | 'ContentType' | 'ACL' | 'ServerSideEncryption'
>;

/** Writes an object with one request if it fits into one part, else as a multipart upload, one part at a time. */
export async function writeS3Object(
  bucket: BucketClient,
  name: string,
  source: AsyncIterable<Uint8Array>,
  type: string | undefined,
  plan: UploadPartSizePlan,
): Promise<number> {
  const objectInput = createObjectInput(bucket, name, type);
  let upload: S3MultipartUpload | undefined;
  let size = 0;
  try {
    for await (const { part, number, isAll } of splitIntoParts(source, plan)) {
      size += part.size();
      if (isAll) {
        await putObject(bucket, name, objectInput, part);
        return size;
      }
      try {
        upload ??= await beginS3MultipartUpload(bucket, name, objectInput);
      } catch (error) {
        await part.discard();
        throw error;
      }
      await upload.send(number, part);
    }
    await upload?.complete(size);
    return size;
  } catch (error) {
    await upload?.abandon();
    throw error;
  }
}

function createObjectInput(
  { bucket, key, settings }: BucketClient,
  name: string,
  type: string | undefined,
): S3ObjectParameters {
  return {
    Bucket: bucket,
    Key: key(name),
    ...(type === undefined ? {} : { ContentType: type }),
    ...(settings.acl === undefined ? {} : { ACL: settings.acl as S3ObjectParameters['ACL'] }),
    ...(settings.encryption === undefined
      ? {}
      : { ServerSideEncryption: settings.encryption as S3ObjectParameters['ServerSideEncryption'] }),
  };
}

async function putObject(
  bucket: BucketClient,
  name: string,
  objectInput: S3ObjectParameters,
  part: UploadPart,
): Promise<void> {
  try {
    const broken = new AbortController();
    const input = { ...objectInput, ...part.body(() => broken.abort()), ContentLength: part.size() };
    const limits = { requestTimeout: uploadTimeout(part.size()), abortSignal: broken.signal };
    await bucket.request(`writing ${name}`, (s3) => s3.putObject(input, limits));
  } catch (error) {
    // The object may exist although its response was lost, so it must be removed.
    await deleteS3Object(bucket, name).catch(() => {});
    throw error;
  } finally {
    await part.discard();
  }
}
