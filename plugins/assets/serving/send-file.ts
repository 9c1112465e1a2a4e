import type { HttpContext } from '../../http/contract.ts';
import type { FileRecord, WholeObject } from '../variant.ts';
import { isNotModified, isRangeCurrent } from './conditional-request.ts';
import type { ObjectCache } from './object-cache.ts';
import { parseRangeHeader, type RequestedRange, resolveRange } from './range.ts';
import {
  createMissingBytesFailure,
  createRangeFailure,
  type ResponseDetails,
  sendBytes,
  sendUnchanged,
  sendWhole,
  setContentHeaders,
} from './send.ts';

/** Answers with the bytes of a file, whole or the requested range. */
export type SendFile = (ctx: HttpContext, about: ResponseDetails, file: FileRecord) => Promise<void>;

export function createSendFile(objects: ObjectCache): SendFile {
  async function sendAll(ctx: HttpContext, about: ResponseDetails, file: FileRecord): Promise<void> {
    const { storage, filename_disk: name } = file;
    if (ctx.method === 'HEAD') return setContentHeaders(ctx, about, assertPresent(await objects.size(storage, name)));
    await sendWhole(
      ctx,
      about,
      assertPresent<WholeObject>(await objects.readWhole(storage, name, () => objects.open(storage, name))),
    );
  }

  async function sendRange(
    ctx: HttpContext,
    about: ResponseDetails,
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
    await sendBytes(ctx, about, assertPresent(await objects.open(storage, name, range)), range);
  }

  return async (ctx, about, file) => {
    const { headers } = ctx.req;
    if (isNotModified(headers, about.headers)) return sendUnchanged(ctx, about);
    const range = parseRangeHeader(headers.range);
    await (range && isRangeCurrent(headers, about.headers)
      ? sendRange(ctx, about, file, range)
      : sendAll(ctx, about, file));
  };
}

function assertPresent<T>(found: T | undefined): T {
  if (found === undefined) throw createMissingBytesFailure();
  return found;
}
