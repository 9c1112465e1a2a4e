import type { HttpContext } from '../../http/contract.ts';
import type { FileRecord, WholeStoredObject } from '../variant.ts';
import {
  type AssetResponseDetails,
  createMissingBytesFailure,
  createRangeFailure,
  sendNotModified,
  sendWholeStoredObject,
  setContentHeaders,
  streamStoredObject,
} from './asset-response-writers.ts';
import { isNotModified, matchesIfRangeHeader } from './conditional-request.ts';
import type { StoredObjectCache } from './object-cache.ts';
import { parseRangeHeader, type RequestedRange, resolveRange } from './range.ts';

/** Answers with the bytes of a file, whole or the requested range. */
export type SendFile = (ctx: HttpContext, about: AssetResponseDetails, file: FileRecord) => Promise<void>;

export function createSendFile(objects: StoredObjectCache): SendFile {
  async function sendAll(ctx: HttpContext, about: AssetResponseDetails, file: FileRecord): Promise<void> {
    const { storage, filename_disk: name } = file;
    if (ctx.method === 'HEAD') return setContentHeaders(ctx, about, assertPresent(await objects.size(storage, name)));
    await sendWholeStoredObject(
      ctx,
      about,
      assertPresent<WholeStoredObject>(await objects.readWhole(storage, name, () => objects.open(storage, name))),
    );
  }

  async function sendRange(
    ctx: HttpContext,
    about: AssetResponseDetails,
    file: FileRecord,
    requestedRange: RequestedRange,
  ): Promise<void> {
    const { storage, filename_disk: name } = file;
    const isHead = ctx.method === 'HEAD';
    const size = assertPresent(await (isHead ? objects.size(storage, name) : objects.cachedSize(storage, name)));
    const range = resolveRange(requestedRange, size);
    if (range === 'whole') return sendAll(ctx, about, file);
    if (!range) throw createRangeFailure(ctx, requestedRange, size);
    if (isHead) return setContentHeaders(ctx, about, size, range);
    await streamStoredObject(ctx, about, assertPresent(await objects.open(storage, name, range)), range);
  }

  return async (ctx, about, file) => {
    const { headers } = ctx.req;
    if (isNotModified(headers, about.headers)) return sendNotModified(ctx, about);
    const range = parseRangeHeader(headers.range);
    await (range && matchesIfRangeHeader(headers, about.headers)
      ? sendRange(ctx, about, file, range)
      : sendAll(ctx, about, file));
  };
}

function assertPresent<T>(found: T | undefined): T {
  if (found === undefined) throw createMissingBytesFailure();
  return found;
}
