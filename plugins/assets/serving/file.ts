import type { HttpContext } from '../../http/contract.ts';
import type { FileRecord, Whole } from '../variant.ts';
import { isUnchanged, rangeHolds } from './conditions.ts';
import type { Objects } from './objects.ts';
import { type AskedRange, askedRange, partOf } from './range.ts';
import { type About, missing, refuseRange, sendBytes, sendHead, sendUnchanged, sendWhole } from './send.ts';

/** Answers with a file's own bytes, all of them or the part that is asked for. */
export type SendFile = (ctx: HttpContext, about: About, file: FileRecord) => Promise<void>;

export function createSendFile(objects: Objects): SendFile {
  async function whole(ctx: HttpContext, about: About, file: FileRecord): Promise<void> {
    const { storage, filename_disk: name } = file;
    if (ctx.method === 'HEAD') return sendHead(ctx, about, there(await objects.size(storage, name)));
    await sendWhole(ctx, about, there<Whole>(await objects.whole(storage, name, () => objects.open(storage, name))));
  }

  async function part(ctx: HttpContext, about: About, file: FileRecord, asked: AskedRange): Promise<void> {
    const { storage, filename_disk: name } = file;
    const isHead = ctx.method === 'HEAD';
    const size = there(await (isHead ? objects.size(storage, name) : objects.sizeOnce(storage, name)));
    const range = partOf(asked, size);
    if (range === 'whole') return whole(ctx, about, file);
    if (!range) throw refuseRange(ctx, asked, size);
    if (isHead) return sendHead(ctx, about, size, range);
    await sendBytes(ctx, about, there(await objects.open(storage, name, range)), range);
  }

  return async (ctx, about, file) => {
    const { headers } = ctx.req;
    if (isUnchanged(headers, about.head)) return sendUnchanged(ctx, about);
    const asked = askedRange(headers.range);
    await (asked && rangeHolds(headers, about.head) ? part(ctx, about, file, asked) : whole(ctx, about, file));
  };
}

function there<T>(found: T | undefined): T {
  if (found === undefined) throw missing();
  return found;
}
