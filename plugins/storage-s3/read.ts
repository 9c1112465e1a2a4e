import type { IncomingMessage } from 'node:http';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import type { ByteRange, OpenedStorageObject, StorageObjectStat } from '../storage/contract.ts';
import { type BucketClient, isMissingObjectError } from './bucket.ts';
import { withDownloadIdleTimeout } from './idle-timeout.ts';
import { RESPONSE_TIMEOUT } from './time-limits.ts';

const limits = { requestTimeout: RESPONSE_TIMEOUT };

export async function openS3Object(
  bucket: BucketClient,
  name: string,
  range?: ByteRange,
): Promise<OpenedStorageObject | undefined> {
  const input = { Bucket: bucket.bucket, Key: bucket.key(name) };
  const part = range ? { Range: `bytes=${range.start}-${range.end}` } : {};
  const answer = await ifPresent(
    bucket.request(`reading ${name}`, (s3) => s3.getObject({ ...input, ...part }, limits)),
  );
  if (!answer) return undefined;
  const body = answer.Body as IncomingMessage;
  try {
    return { size: parseSize(answer, range), bytes: withDownloadIdleTimeout(body, name) };
  } catch (error) {
    body.destroy();
    throw new Error(`reading ${name} in the bucket ${bucket.bucket}: ${(error as Error).message}`, { cause: error });
  }
}

export async function statS3Object(bucket: BucketClient, name: string): Promise<StorageObjectStat | undefined> {
  const input = { Bucket: bucket.bucket, Key: bucket.key(name) };
  const answer = await ifPresent(bucket.request(`looking at ${name}`, (s3) => s3.headObject(input, limits)));
  return answer && { name, size: answer.ContentLength ?? 0, modified: answer.LastModified ?? new Date(0) };
}

function ifPresent<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (isMissingObjectError(error)) return undefined;
    throw error;
  });
}

/** Bytes of the whole object, from the headers of the response. */
function parseSize({ ContentLength, ContentRange }: GetObjectCommandOutput, range: ByteRange | undefined): number {
  if (!range) {
    if (ContentLength === undefined) throw new Error('the server does not say how much it sends');
    return ContentLength;
  }
  const [, start, end, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(ContentRange ?? '') ?? [];
  if (Number(start) === range.start && Number(end) === range.end) return Number(size);
  throw new Error(`the server sends ${ContentRange ?? 'everything'} instead of ${range.start}-${range.end}`);
}
