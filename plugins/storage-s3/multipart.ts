import { setTimeout as pause } from 'node:timers/promises';
import type { CompletedPart, UploadPartCommandOutput } from '@aws-sdk/client-s3';
import { type BucketClient, isPermanentError } from './bucket.ts';
import type { UploadPart } from './part.ts';
import { statS3Object } from './read.ts';
import { abortS3MultipartUpload, deleteS3Object } from './remove.ts';
import { RESPONSE_TIMEOUT, S3_UPLOAD_COMPLETION_TIMEOUT, uploadTimeout } from './time-limits.ts';
import type { S3ObjectParameters } from './write.ts';

/** A multipart upload. The object cannot be opened before it is complete. */
export interface S3MultipartUpload {
  /** Resolves when the previous part has arrived: one part is sent while the next is collected. Discards the part. */
  send(number: number, part: UploadPart): Promise<void>;
  /** Completes the upload. `size` is the size of the whole object, in bytes. */
  complete(size: number): Promise<void>;
  /** Aborts the upload, so that nothing is left if the server is reachable. Never rejects. */
  abandon(): Promise<void>;
}

/** Attempts for a body that the SDK cannot resend, because it is read from a file. */
const ATTEMPTS = 3;

export async function beginS3MultipartUpload(
  bucket: BucketClient,
  name: string,
  objectInput: S3ObjectParameters,
): Promise<S3MultipartUpload> {
  const { UploadId } = await bucket.request(`beginning ${name}`, (s3) =>
    s3.createMultipartUpload(objectInput, { requestTimeout: RESPONSE_TIMEOUT }),
  );
  const upload = { Bucket: objectInput.Bucket, Key: objectInput.Key, UploadId };
  const stop = new AbortController();
  const completedParts: CompletedPart[] = [];
  let pendingPart: Promise<void> = Promise.resolve();
  let isCompleting = false;

  const sendOnce = (number: number, part: UploadPart) => {
    const broken = new AbortController();
    const body = part.body(() => broken.abort());
    const input = { ...upload, ...body, PartNumber: number, ContentLength: part.size() };
    const abortSignal = AbortSignal.any([stop.signal, broken.signal]);
    const limits = { requestTimeout: uploadTimeout(part.size()), abortSignal };
    return bucket.request(`writing part ${number} of ${name}`, (s3) => s3.uploadPart(input, limits));
  };
  const deliverPart = async (number: number, part: UploadPart) => {
    try {
      const answer = await retry(part.isRepeatable ? 1 : ATTEMPTS, stop.signal, () => sendOnce(number, part));
      completedParts.push({ PartNumber: number, ETag: answer.ETag, ...pickChecksums(answer) });
    } finally {
      await part.discard();
    }
  };
  const finish = () =>
    bucket.request(`completing ${name}`, (s3) =>
      s3.completeMultipartUpload(
        { ...upload, MultipartUpload: { Parts: completedParts } },
        { requestTimeout: S3_UPLOAD_COMPLETION_TIMEOUT, abortSignal: stop.signal },
      ),
    );

  return {
    async send(number, part) {
      try {
        await pendingPart;
      } catch (error) {
        await part.discard();
        throw error;
      }
      pendingPart = deliverPart(number, part);
      // The next call rejects with this error; until then it must not count as unhandled.
      pendingPart.catch(() => {});
    },
    async complete(size) {
      await pendingPart;
      isCompleting = true;
      try {
        await finish();
      } catch (error) {
        // An earlier attempt may have succeeded with its response lost: then the upload is gone and the object exists.
        const object = await statS3Object(bucket, name).catch(() => undefined);
        if (object?.size !== size) throw error;
      }
    },
    async abandon() {
      stop.abort();
      // A part that arrives after the abort would stay.
      await pendingPart.catch(() => {});
      // Where this abort fails, the next `remove` of the object finds the upload and aborts it.
      await abortS3MultipartUpload(bucket, name, UploadId).catch(() => {});
      if (isCompleting) await deleteS3Object(bucket, name).catch(() => {});
    },
  };
}

async function retry<T>(times: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await work();
    } catch (error) {
      if (number >= times || signal.aborted || isPermanentError(error)) throw error;
      await pause(number * 1000, undefined, { signal });
    }
  }
}

/** The server expects the checksums of the parts when the upload is completed. */
const pickChecksums = ({
  ChecksumCRC32,
  ChecksumCRC32C,
  ChecksumCRC64NVME,
  ChecksumSHA1,
  ChecksumSHA256,
}: UploadPartCommandOutput) => ({
  ChecksumCRC32,
  ChecksumCRC32C,
  ChecksumCRC64NVME,
  ChecksumSHA1,
  ChecksumSHA256,
});
