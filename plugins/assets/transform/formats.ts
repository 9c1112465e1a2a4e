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

/** Those that can hold several frames, and that are made with all of them. */
const MOVING: readonly ImageFormat[] = ['gif', 'webp'];
/** Whose place PNG takes for a client that knows neither AVIF nor WebP (specification, "Asset endpoints"). */
const TRANSPARENT: readonly ImageFormat[] = ['avif', 'webp', 'tiff'];

/** What the file's bytes are; undefined where they are nothing that is transformed. What was found out counts before what was said. */
export function formatOf({ detected_type, type }: Pick<FileRecord, 'detected_type' | 'type'>): ImageFormat | undefined {
  const [name = ''] = (detected_type ?? type ?? '').split(';', 1);
  return BY_TYPE.get(name.trim().toLowerCase());
}

export const canMove = (format: ImageFormat): boolean => MOVING.includes(format);
export const extensionOf = (format: ImageFormat): string => (format === 'jpeg' ? 'jpg' : format);

/** Small ones first. */
const MODERN: readonly ImageFormat[] = ['avif', 'webp'];

/** What `format=auto` means for this client (specification, "Asset endpoints"). */
export function bestFormat(source: ImageFormat, accept: string | undefined): ImageFormat {
  const accepted = namedTypes(accept);
  const found = MODERN.find((format) => accepted.has(`image/${format}`));
  return found ?? (TRANSPARENT.includes(source) ? 'png' : source);
}

/** Types that the client names, without those it names to refuse them; what a wildcard covers may be unknown to it. */
function namedTypes(accept = ''): ReadonlySet<string> {
  const entries = accept.toLowerCase().split(',', 100);
  return new Set(
    entries
      .map((entry) => entry.split(';').map((part) => part.trim()))
      .filter(([, ...parameters]) => !parameters.some((one) => /^q\s*=\s*0(\.0*)?$/.test(one)))
      .map(([type = '']) => type),
  );
}
