import exifr from 'exifr';
import { loadDecoders } from './decoders.ts';
import { type MetadataGroups, toMetadataGroups } from './metadata-groups.ts';
import { buildMetadataJpeg } from './wrap-metadata-in-jpeg.ts';

/** Types that exifr reads itself, and types whose metadata blocks the decoders extract. */
const DIRECT_TYPES: readonly string[] = ['image/jpeg', 'image/tiff', 'image/heic', 'image/heif'];
const CARRIER_TYPES: readonly string[] = ['image/png', 'image/webp', 'image/avif'];

/** Options of exifr. Values stay numbers as in the standards: translated texts would change with the library. */
const COMMON = { mergeOutput: false, sanitize: true, translateKeys: true, translateValues: false, reviveValues: true };
const NONE = { tiff: false, ifd1: false, exif: false, gps: false, iptc: false, icc: false, ihdr: false, xmp: false };
const BLOCKS = { ...COMMON, ...NONE, tiff: true, exif: true, gps: true, iptc: true, icc: true };
/**
 * Options of exifr for XMP, which is parsed separately: it repeats values of other groups as text, which would replace
 * the numbers.
 */
const XMP = { ...COMMON, ...NONE, xmp: true };

/** Reports the metadata of an image by group, and again with XMP. */
export async function readImageMetadata(
  path: string,
  type: string,
  onGroups: (groups: MetadataGroups) => void,
): Promise<void> {
  const isDirect = DIRECT_TYPES.includes(type);
  if (!isDirect && !CARRIER_TYPES.includes(type)) return;
  const parsed = await parse(isDirect ? path : await readCarrier(path), BLOCKS);
  const groups = toMetadataGroups(parsed);
  if (Object.keys(groups).length > 0) onGroups(groups);
  const xmp = await parse(await readCarrier(path), XMP);
  if (Object.keys(xmp).length > 0)
    onGroups(toMetadataGroups({ ...parsed, xmp: Object.assign({}, ...Object.values(xmp)) }));
}

/** The metadata blocks of a format that exifr does not read well, as a JPEG. */
async function readCarrier(path: string): Promise<Buffer> {
  const open = await loadDecoders();
  return buildMetadataJpeg(await open(path, { failOn: 'none', limitInputPixels: false }).metadata());
}

/** Parses metadata by exifr into groups of values. Leaves out what is no group and what cannot be read. */
async function parse(source: string | Buffer, options: object): Promise<Record<string, object>> {
  const parsed: unknown = await exifr.parse(source, options).catch(() => undefined);
  return Object.fromEntries(
    Object.entries(parsed ?? {}).filter((entry): entry is [string, object] => {
      const [, value] = entry;
      return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value);
    }),
  );
}
