import { setTimeout as pause } from 'node:timers/promises';
import type { CompletedPart, UploadPartCommandOutput } from '@aws-sdk/client-s3';
import { type Bucket, isFinal } from './bucket.ts';
import type { Part } from './part.ts';
import { statObject } from './read.ts';
import { abortUpload, deleteObject } from './remove.ts';
import { ANSWERING, ASSEMBLING, sending } from './time-limits.ts';
import type { Making } from './write.ts';

/** An object that is sent in parts. Nobody can open it before it is complete. */
export interface Multipart {
  /** Comes back when the part before this one has arrived: one is on its way while the next is gathered. Discards the part. */
  send(number: number, part: Part): Promise<void>;
  /** `size` is that of the whole object. */
  complete(size: number): Promise<void>;
  /** Leaves nothing, as far as the server can be reached. */
  abandon(): Promise<void>;
}

/** Of a body that the SDK cannot send again by itself, because it is read from a file. */
const ATTEMPTS = 3;

export async function beginMultipart(bucket: Bucket, name: string, making: Making): Promise<Multipart> {
  const { UploadId } = await bucket.ask(`beginning ${name}`, (s3) =>
    s3.createMultipartUpload(making, { requestTimeout: ANSWERING }),
  );
  const upload = { Bucket: making.Bucket, Key: making.Key, UploadId };
  const stop = new AbortController();
  const arrived: CompletedPart[] = [];
  let onItsWay: Promise<void> = Promise.resolve();
  let isCompleting = false;

  const sendOnce = (number: number, part: Part) => {
    const broken = new AbortController();
    const body = part.body(() => broken.abort());
    const input = { ...upload, ...body, PartNumber: number, ContentLength: part.size() };
    const abortSignal = AbortSignal.any([stop.signal, broken.signal]);
    const limits = { requestTimeout: sending(part.size()), abortSignal };
    return bucket.ask(`writing part ${number} of ${name}`, (s3) => s3.uploadPart(input, limits));
  };
  const deliver = async (number: number, part: Part) => {
    try {
      const answer = await attempt(part.repeats ? 1 : ATTEMPTS, stop.signal, () => sendOnce(number, part));
      arrived.push({ PartNumber: number, ETag: answer.ETag, ...checksumsOf(answer) });
    } finally {
      await part.discard();
    }
  };
  const finish = () =>
    bucket.ask(`completing ${name}`, (s3) =>
      s3.completeMultipartUpload(
        { ...upload, MultipartUpload: { Parts: arrived } },
        { requestTimeout: ASSEMBLING, abortSignal: stop.signal },
      ),
    );

  return {
    async send(number, part) {
      try {
        await onItsWay;
      } catch (error) {
        await part.discard();
        throw error;
      }
      onItsWay = deliver(number, part);
      // Whoever comes next meets the error; until then it is not one that nobody handles.
      onItsWay.catch(() => {});
    },
    async complete(size) {
      await onItsWay;
      isCompleting = true;
      try {
        await finish();
      } catch (error) {
        // The first attempt may have done it and its answer be lost: then the upload is not there any more, but the object is.
        const object = await statObject(bucket, name).catch(() => undefined);
        if (object?.size !== size) throw error;
      }
    },
    async abandon() {
      stop.abort();
      // A part that arrives afterwards would stay.
      await onItsWay.catch(() => {});
      // What fails here is found by `remove`.
      await abortUpload(bucket, name, UploadId).catch(() => {});
      if (isCompleting) await deleteObject(bucket, name).catch(() => {});
    },
  };
}

async function attempt<T>(times: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await work();
    } catch (error) {
      if (number >= times || signal.aborted || isFinal(error)) throw error;
      await pause(number * 1000, undefined, { signal });
    }
  }
}

/** A server that has checked a part by one wants to hear it again. */
const checksumsOf = ({
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
