import { loadDecoders } from './decoders.ts';
import { readFileHead } from './image-kind.ts';
import { TEXT_HEAD_BYTES } from './mime-type.ts';
import { findSvgRoot } from './text-type.ts';

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** The size of an image with its orientation applied, from its header alone. */
export async function readImageSize(path: string, type: string): Promise<ImageSize | undefined> {
  if (type === 'image/svg+xml') return parseSvgSize(findSvgRoot(await readFileHead(path, TEXT_HEAD_BYTES)) ?? '');
  // The GIF decoder would read all frames of the file.
  if (type === 'image/gif') return parseGifSize(await readFileHead(path, 10));
  const open = await loadDecoders();
  // No limit on pixels: nothing is decoded.
  const { autoOrient } = await open(path, { failOn: 'none', limitInputPixels: false }).metadata();
  return autoOrient;
}

const parseGifSize = (head: Buffer): ImageSize | undefined =>
  head.length === 10 ? { width: head.readUInt16LE(6), height: head.readUInt16LE(8) } : undefined;

/** CSS pixels of the units a length may have. */
const UNITS: Readonly<Record<string, number>> = { px: 1, pt: 4 / 3, pc: 16, in: 96, cm: 96 / 2.54, mm: 96 / 25.4 };

/** The size of an SVG by width and height, else by viewBox. It is read as text and never rendered. */
function parseSvgSize(root: string): ImageSize | undefined {
  const attribute = (name: string) =>
    new RegExp(`\\s${name}\\s*=\\s*["']([^"']*)["']`).exec(root)?.[1]?.trim().slice(0, 100) ?? '';
  const [, , across, down] = attribute('viewBox')
    .split(/[\s,]+/)
    .map(Number);
  const width = parseLength(attribute('width'));
  const height = parseLength(attribute('height'));
  const ratio = across && down && across > 0 && down > 0 ? across / down : undefined;
  if (width && height) return roundSize(width, height);
  if (!ratio || !across || !down) return undefined;
  if (width) return roundSize(width, width / ratio);
  return height ? roundSize(height * ratio, height) : roundSize(across, down);
}

function parseLength(text: string): number | undefined {
  const [, digits, unit = 'px'] = /^\+?(\d*\.?\d+(?:e[+-]?\d+)?)(px|pt|pc|in|cm|mm)?$/i.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (UNITS[unit.toLowerCase()] ?? 1);
}

const roundSize = (width: number, height: number): ImageSize => ({
  width: Math.max(1, Math.round(width)),
  height: Math.max(1, Math.round(height)),
});
