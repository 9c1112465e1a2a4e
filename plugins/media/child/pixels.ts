import { decoders } from './decoders.ts';
import { headOf } from './kind.ts';
import { svgRootOf } from './markup.ts';
import { TEXT_HEAD } from './type.ts';

export interface Pixels {
  readonly width: number;
  readonly height: number;
}

/** Of an image as it is seen, from its header alone. */
export async function pixelsOf(path: string, type: string): Promise<Pixels | undefined> {
  if (type === 'image/svg+xml') return drawingOf(svgRootOf(await headOf(path, TEXT_HEAD)) ?? '');
  // Its decoder looks for all frames, as far as the file goes.
  if (type === 'image/gif') return screenOf(await headOf(path, 10));
  const open = await decoders();
  // However large it says it is: nothing of it is decoded.
  const { autoOrient } = await open(path, { failOn: 'none', limitInputPixels: false }).metadata();
  return autoOrient;
}

const screenOf = (head: Buffer): Pixels | undefined =>
  head.length === 10 ? { width: head.readUInt16LE(6), height: head.readUInt16LE(8) } : undefined;

/** CSS pixels of the units a length may have. */
const UNITS: Readonly<Record<string, number>> = { px: 1, pt: 4 / 3, pc: 16, in: 96, cm: 96 / 2.54, mm: 96 / 25.4 };

/** What a drawing says of its size, else the size of its view. It is read as text: nobody draws it. */
function drawingOf(root: string): Pixels | undefined {
  const attribute = (name: string) =>
    new RegExp(`\\s${name}\\s*=\\s*["']([^"']*)["']`).exec(root)?.[1]?.trim().slice(0, 100) ?? '';
  const [, , across, down] = attribute('viewBox')
    .split(/[\s,]+/)
    .map(Number);
  const width = lengthOf(attribute('width'));
  const height = lengthOf(attribute('height'));
  const ratio = across && down && across > 0 && down > 0 ? across / down : undefined;
  if (width && height) return rounded(width, height);
  if (!ratio || !across || !down) return undefined;
  if (width) return rounded(width, width / ratio);
  return height ? rounded(height * ratio, height) : rounded(across, down);
}

function lengthOf(text: string): number | undefined {
  const [, digits, unit = 'px'] = /^\+?(\d*\.?\d+(?:e[+-]?\d+)?)(px|pt|pc|in|cm|mm)?$/i.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (UNITS[unit.toLowerCase()] ?? 1);
}

const rounded = (width: number, height: number): Pixels => ({
  width: Math.max(1, Math.round(width)),
  height: Math.max(1, Math.round(height)),
});
