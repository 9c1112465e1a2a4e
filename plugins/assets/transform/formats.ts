import type { ImageFormat } from '../../media/contract.ts';
import type { FileRecord } from '../variant.ts';

const BY_TYPE: ReadonlyMap<string, ImageFormat> = new Map([
  ['image/jpeg', 'jpeg'],
  ['image/png', 'png'],
  ['image/apng', 'png'],
  ['image/webp', 'webp'],
  ['image/tiff', 'tiff'],
  ['image/avif', 'avif'],
  ['image/gif', 'gif'],
]);

/** Formats that are written with all frames of an animation. */
const ANIMATED: readonly ImageFormat[] = ['gif', 'webp'];
/** Formats that may be transparent: PNG replaces them for clients without AVIF and WebP (specification, "Asset endpoints"). */
const TRANSPARENT: readonly ImageFormat[] = ['avif', 'webp', 'tiff'];

/** Format of the source: by detected, else by declared type; undefined if it cannot be transformed. */
export function imageFormatOfFile({
  detected_type,
  type,
}: Pick<FileRecord, 'detected_type' | 'type'>): ImageFormat | undefined {
  const [name = ''] = (detected_type ?? type ?? '').split(';', 1);
  return BY_TYPE.get(name.trim().toLowerCase());
}

export const canBeAnimated = (format: ImageFormat): boolean => ANIMATED.includes(format);
export const extensionOfFormat = (format: ImageFormat): string => (format === 'jpeg' ? 'jpg' : format);

/** Formats that `format=auto` prefers, the one with the smallest files first. */
const MODERN: readonly ImageFormat[] = ['avif', 'webp'];

/** The format of `format=auto` for this client (specification, "Asset endpoints"). */
export function chooseBestFormat(source: ImageFormat, accept: string | undefined): ImageFormat {
  const accepted = parseAccept(accept);
  const found = MODERN.find((format) => accepted.has(`image/${format}`));
  return found ?? (TRANSPARENT.includes(source) ? 'png' : source);
}

/** Types that `Accept` names with a quality over 0. Wildcards are ignored: the client may not know every type they cover. */
function parseAccept(accept = ''): ReadonlySet<string> {
  const entries = accept.toLowerCase().split(',', 100);
  return new Set(
    entries
      .map((entry) => entry.split(';').map((part) => part.trim()))
      .filter(([, ...parameters]) => !parameters.some((one) => /^q\s*=\s*0(\.0*)?$/.test(one)))
      .map(([type = '']) => type),
  );
}
