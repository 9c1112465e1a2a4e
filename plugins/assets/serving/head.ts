import type { FileRecord, Variant } from '../variant.ts';
import type { Validators } from './conditions.ts';
import { disposition, renamed } from './disposition.ts';
import { contentPolicy, sentType } from './safety.ts';

/** What an answer says of the bytes, whatever part of them it sends. */
export interface Head extends Validators {
  readonly type: string;
  /** Headers of every answer about them, one that sends none included. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** Records are remembered, and so is what is said of them; of all together not more. */
const REMEMBERED = 10_000;
let known = new WeakMap<FileRecord, Map<string, Head>>();
let count = 0;

export function headOf(file: FileRecord, variant: Variant | undefined, download: boolean): Head {
  const key = `${download ? 'download' : ''}/${variant?.name ?? ''}`;
  const before = known.get(file)?.get(key);
  if (before) return before;
  if (++count > REMEMBERED) {
    known = new WeakMap();
    count = 1;
  }
  const heads = known.get(file) ?? new Map<string, Head>();
  const head = makeHead(file, variant, download);
  known.set(file, heads.set(key, head));
  return head;
}

function makeHead(file: FileRecord, variant: Variant | undefined, download: boolean): Head {
  const etag = `"${variant?.name ?? file.filename_disk}"`;
  const modified = file.modified_on === null ? undefined : Math.floor(file.modified_on.getTime() / 1000) * 1000;
  const name = variant ? renamed(file.filename_download, variant.extension) : file.filename_download;
  return {
    etag,
    modified,
    type: variant?.type ?? sentType(file.type ?? file.detected_type, file.charset),
    fields: [
      ['ETag', etag],
      ...(modified === undefined ? [] : [['Last-Modified', new Date(modified).toUTCString()] as const]),
      ['Accept-Ranges', 'bytes'],
      ['Content-Disposition', disposition(download, name)],
      ['Content-Security-Policy', variant ? contentPolicy(variant.type) : contentPolicy(file.type, file.detected_type)],
      // Pages of the same origin may show it inside of them, as the policy says as well.
      ['X-Frame-Options', 'SAMEORIGIN'],
    ],
  };
}
