import { METADATA } from '../limits.ts';

export type Groups = Record<string, Record<string, unknown>>;

const GROUPS = ['ifd0', 'exif', 'gps', 'iptc', 'xmp', 'icc'] as const;

/** Groups whose times are those of a clock on a wall: the file does not say in which zone. */
const WALL: readonly string[] = ['ifd0', 'exif', 'gps'];

/** Groups whose texts are read byte by byte, though most programs write UTF-8. */
const BYTES: readonly string[] = ['ifd0', 'exif', 'gps', 'iptc'];

interface Reading {
  readonly isWall: boolean;
  readonly isBytes: boolean;
}

/** Only values that JSON and the database can hold, within the bounds; what does not fit any more is left out. */
export function gather(found: Readonly<Record<string, object>>): Groups {
  const groups: Groups = {};
  let left = METADATA.total;
  for (const group of GROUPS) {
    const members: Record<string, unknown> = {};
    const reading = { isWall: WALL.includes(group), isBytes: BYTES.includes(group) };
    // Braces, quotes, colon and comma around the group.
    left -= group.length + 6;
    for (const [key, value] of Object.entries(found[group] ?? {})) {
      const name = textOf(key);
      const plain = plainOf(value, reading, 0);
      const length = plain === undefined ? 0 : JSON.stringify({ [name]: plain }).length;
      if (plain === undefined || length > left || name === '__proto__') continue;
      left -= length;
      members[name] = plain;
    }
    if (Object.keys(members).length > 0) groups[group] = members;
  }
  return groups;
}

function plainOf(value: unknown, reading: Reading, depth: number): unknown {
  if (typeof value === 'string') return textOf(reading.isBytes ? decoded(value) : value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Date) return dateOf(value, reading.isWall);
  if (typeof value !== 'object' || value === null || depth >= METADATA.depth) return undefined;
  if (value instanceof ArrayBuffer) return bytesOf(new Uint8Array(value));
  if (value instanceof Uint8Array) return bytesOf(value);
  if (value instanceof DataView) return undefined;
  const inner = (one: unknown) => plainOf(one, reading, depth + 1);
  if (Array.isArray(value) || ArrayBuffer.isView(value))
    return Array.from(value as unknown as ArrayLike<unknown>)
      .slice(0, METADATA.entries)
      .map(inner)
      .filter((one) => one !== undefined);
  const members = Object.entries(value)
    .slice(0, METADATA.entries)
    .map(([key, one]) => [textOf(key), inner(one)] as const);
  return Object.fromEntries(members.filter(([key, one]) => one !== undefined && key !== '__proto__'));
}

/** Without what a database refuses in texts, and without the zeros that cameras fill their fields with. */
const textOf = (text: string): string => text.replace(/\0+/g, '').trim().slice(0, METADATA.text).toWellFormed();

/** Bytes beyond ASCII that happen to be UTF-8 were meant to be. */
function decoded(text: string): string {
  if (!/[\x80-\xff]/.test(text) || /[^\0-\xff]/.test(text)) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    return text;
  }
}

function dateOf(date: Date, isWall: boolean): string | undefined {
  if (Number.isNaN(date.getTime())) return undefined;
  return isWall ? date.toISOString().replace(/(?:\.000)?Z$/, '') : date.toISOString();
}

/** One byte is a number that needs no more room. */
const bytesOf = (bytes: Uint8Array): number | readonly number[] | undefined =>
  bytes.length === 1 ? bytes[0] : bytes.length <= METADATA.bytes ? [...bytes] : undefined;
