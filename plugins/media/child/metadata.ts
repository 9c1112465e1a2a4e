import exifr from 'exifr';
import { carrierOf } from './carrier.ts';
import { decoders } from './decoders.ts';
import { type Groups, gather } from './plain.ts';

/** Types the reader knows by itself, and those whose blocks it gets from the decoders. */
const READ: readonly string[] = ['image/jpeg', 'image/tiff', 'image/heic', 'image/heif'];
const CARRIED: readonly string[] = ['image/png', 'image/webp', 'image/avif'];

/** Numbers as the standards have them: texts of a translation would change with the library. */
const COMMON = { mergeOutput: false, sanitize: true, translateKeys: true, translateValues: false, reviveValues: true };
const NONE = { tiff: false, ifd1: false, exif: false, gps: false, iptc: false, icc: false, ihdr: false, xmp: false };
const OWN = { ...COMMON, ...NONE, tiff: true, exif: true, gps: true, iptc: true, icc: true };
/** Apart: it repeats values of the other groups, as texts, and they would take the place of the numbers. */
const XMP = { ...COMMON, ...NONE, xmp: true };

/** Tells what an image says of itself by group, and again when there is more. */
export async function readMetadata(path: string, type: string, tell: (groups: Groups) => void): Promise<void> {
  const isRead = READ.includes(type);
  if (!isRead && !CARRIED.includes(type)) return;
  const own = await parse(isRead ? path : await carriedBy(path), OWN);
  const groups = gather(own);
  if (Object.keys(groups).length > 0) tell(groups);
  const xmp = await parse(await carriedBy(path), XMP);
  if (Object.keys(xmp).length > 0) tell(gather({ ...own, xmp: Object.assign({}, ...Object.values(xmp)) }));
}

/** The blocks of a file whose format the reader does not know, or not well, in one it does. */
async function carriedBy(path: string): Promise<Buffer> {
  const open = await decoders();
  return carrierOf(await open(path, { failOn: 'none', limitInputPixels: false }).metadata());
}

/** Groups of names; what is no group, and what cannot be read, is left out. */
async function parse(source: string | Buffer, options: object): Promise<Record<string, object>> {
  const parsed: unknown = await exifr.parse(source, options).catch(() => undefined);
  return Object.fromEntries(
    Object.entries(parsed ?? {}).filter((entry): entry is [string, object] => {
      const [, value] = entry;
      return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value);
    }),
  );
}
