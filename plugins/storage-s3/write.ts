import type { PutObjectCommandInput } from '@aws-sdk/client-s3';
import type { Bucket } from './bucket.ts';
import { inParts } from './in-parts.ts';
import { beginMultipart, type Multipart } from './multipart.ts';
import type { Part } from './part.ts';
import type { PartPlan } from './part-plan.ts';
import { deleteObject } from './remove.ts';
import { sending } from './time-limits.ts';

/** What is said of an object when it is made. */
export type Making = Pick<PutObjectCommandInput, 'Bucket' | 'Key' | 'ContentType' | 'ACL' | 'ServerSideEncryption'>;

/** Keeps the object by one request where it fits into one part, else by parts of which one is sent while the next comes in. */
export async function writeObject(
  bucket: Bucket,
  name: string,
  source: AsyncIterable<Uint8Array>,
  type: string | undefined,
  plan: PartPlan,
): Promise<number> {
  const making = makingOf(bucket, name, type);
  let upload: Multipart | undefined;
  let size = 0;
  try {
    for await (const { part, number, isAll } of inParts(source, plan)) {
      size += part.size();
      if (isAll) {
        await put(bucket, name, making, part);
        return size;
      }
      try {
        upload ??= await beginMultipart(bucket, name, making);
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

function makingOf({ bucket, key, settings }: Bucket, name: string, type: string | undefined): Making {
  return {
    Bucket: bucket,
    Key: key(name),
    ...(type === undefined ? {} : { ContentType: type }),
    ...(settings.acl === undefined ? {} : { ACL: settings.acl as Making['ACL'] }),
    ...(settings.encryption === undefined
      ? {}
      : { ServerSideEncryption: settings.encryption as Making['ServerSideEncryption'] }),
  };
}

async function put(bucket: Bucket, name: string, making: Making, part: Part): Promise<void> {
  try {
    const broken = new AbortController();
    const input = { ...making, ...part.body(() => broken.abort()), ContentLength: part.size() };
    const limits = { requestTimeout: sending(part.size()), abortSignal: broken.signal };
    await bucket.ask(`writing ${name}`, (s3) => s3.putObject(input, limits));
  } catch (error) {
    // The answer may be what was lost: then the object is there although nobody counts on it.
    await deleteObject(bucket, name).catch(() => {});
    throw error;
  } finally {
    await part.discard();
  }
}
