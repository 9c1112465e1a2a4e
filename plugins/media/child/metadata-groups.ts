import { IMAGE_METADATA_LIMITS } from '../limits.ts';

export type MetadataGroups = Record<string, Record<string, unknown>>;

const GROUPS = ['ifd0', 'exif', 'gps', 'iptc', 'xmp', 'icc'] as const;

/** Groups whose times are local times without a zone. */
const LOCAL_TIME_GROUPS: readonly string[] = ['ifd0', 'exif', 'gps'];

/** Groups whose texts exifr decodes as latin1, although most programs write UTF-8. */
const BYTE_TEXT_GROUPS: readonly string[] = ['ifd0', 'exif', 'gps', 'iptc'];

interface GroupFormat {
  readonly isLocalTime: boolean;
  readonly isByteText: boolean;
}

/**
 * Converts the metadata of an image to values that JSON and PostgreSQL can hold, within the limits; leaves out the
 * rest.
 */
export function toMetadataGroups(found: Readonly<Record<string, object>>): MetadataGroups {
  const groups: MetadataGroups = {};
  let left = IMAGE_METADATA_LIMITS.total;
  for (const group of GROUPS) {
    const members: Record<string, unknown> = {};
    const format = { isLocalTime: LOCAL_TIME_GROUPS.includes(group), isByteText: BYTE_TEXT_GROUPS.includes(group) };
    // Braces, quotes, colon and comma around the group.
    left -= group.length + 6;
    for (const [key, value] of Object.entries(found[group] ?? {})) {
      const name = toText(key);
      const json = toJsonValue(value, format, 0);
      const length = json === undefined ? 0 : JSON.stringify({ [name]: json }).length;
      if (json === undefined || length > left || name === '__proto__') continue;
      left -= length;
      members[name] = json;
    }
    if (Object.keys(members).length > 0) groups[group] = members;
  }
  return groups;
}

function toJsonValue(value: unknown, format: GroupFormat, depth: number): unknown {
  if (typeof value === 'string') return toText(format.isByteText ? decodeUtf8(value) : value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Date) return toDateText(value, format.isLocalTime);
  if (typeof value !== 'object' || value === null || depth >= IMAGE_METADATA_LIMITS.depth) return undefined;
  if (value instanceof ArrayBuffer) return toByteList(new Uint8Array(value));
  if (value instanceof Uint8Array) return toByteList(value);
  if (value instanceof DataView) return undefined;
  const convert = (one: unknown) => toJsonValue(one, format, depth + 1);
  if (Array.isArray(value) || ArrayBuffer.isView(value))
    return Array.from(value as unknown as ArrayLike<unknown>)
      .slice(0, IMAGE_METADATA_LIMITS.entries)
      .map(convert)
      .filter((one) => one !== undefined);
  const members = Object.entries(value)
    .slice(0, IMAGE_METADATA_LIMITS.entries)
    .map(([key, one]) => [toText(key), convert(one)] as const);
  return Object.fromEntries(members.filter(([key, one]) => one !== undefined && key !== '__proto__'));
}

/** Removes what PostgreSQL rejects in text, and the NULs that cameras pad their fields with. */
const toText = (text: string): string =>
  text.replace(/\0+/g, '').trim().slice(0, IMAGE_METADATA_LIMITS.text).toWellFormed();

/** Text that is valid UTF-8 is decoded as such. */
function decodeUtf8(text: string): string {
  if (!/[\x80-\xff]/.test(text) || /[^\0-\xff]/.test(text)) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    return text;
  }
}

function toDateText(date: Date, isLocalTime: boolean): string | undefined {
  if (Number.isNaN(date.getTime())) return undefined;
  return isLocalTime ? date.toISOString().replace(/(?:\.000)?Z$/, '') : date.toISOString();
}

/** A single byte is a number; longer values are lists, up to the limit. */
const toByteList = (bytes: Uint8Array): number | readonly number[] | undefined =>
  bytes.length === 1 ? bytes[0] : bytes.length <= IMAGE_METADATA_LIMITS.bytes ? [...bytes] : undefined;
