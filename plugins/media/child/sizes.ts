import type { Metadata } from 'sharp';
import type { ImageOperation, ImagePlan } from '../contract.ts';
import { FRAMES } from '../limits.ts';
import { Refused } from './refused.ts';

/** Sides that are not known before the work (after `trim`) are undefined. */
interface Size {
  readonly width: number | undefined;
  readonly height: number | undefined;
}

/** Refuses before the work what would be too large, as far as the arguments say it. What is made is measured again. */
export function refuseOversize(header: Metadata, pages: number, plan: ImagePlan): void {
  const { width, height, pageHeight = height, orientation = 1 } = header;
  // From the fifth on an orientation is lying.
  const isTurned = plan.orient && orientation >= 5;
  let size: Size = isTurned ? { width: pageHeight, height: width } : { width, height: pageHeight };
  for (const operation of plan.operations) {
    size = after(operation, size);
    for (const side of [size.width, size.height])
      if (side !== undefined && side > plan.maxResult)
        throw new Refused(
          'tooLarge',
          `${operation[0]} would make ${side} pixels; each side may have ${plan.maxResult}`,
        );
  }
  if ((size.width ?? 0) * (size.height ?? 0) * pages > plan.maxResult ** 2 * FRAMES)
    throw new Refused('tooLarge', `${pages} frames of ${size.width} × ${size.height} pixels are too many`);
}

function after([name, ...args]: ImageOperation, size: Size): Size {
  if (name === 'resize') return resized(args, size);
  if (name === 'extend') return extended(args[0], size);
  if (name === 'extract') return extracted(args[0], size);
  if (name === 'rotate') return rotated(args[0], size);
  return name === 'trim' ? { width: undefined, height: undefined } : size;
}

const sideOf = (value: unknown): number | undefined => (typeof value === 'number' && value > 0 ? value : undefined);
const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

function resized(args: readonly unknown[], size: Size): Size {
  const options = membersOf(args.find((one) => typeof one === 'object' && one !== null));
  let width = sideOf(typeof args[0] === 'number' ? args[0] : options.width);
  let height = sideOf(typeof args[1] === 'number' ? args[1] : options.height);
  if (size.width === undefined || size.height === undefined)
    return options.withoutEnlargement === true ? size : { width, height };
  const [across, down] = [(width ?? Number.NaN) / size.width, (height ?? Number.NaN) / size.height];
  const known = [across, down].filter((one) => !Number.isNaN(one));
  // One side alone, or a box to be in or around: the ratio stays.
  if ((known.length === 1 && options.fit !== 'fill') || options.fit === 'inside' || options.fit === 'outside') {
    const chosen = options.fit === 'outside' ? Math.max(...known) : Math.min(...known);
    if (known.length === 0) return size;
    width = Math.max(1, Math.round(size.width * chosen));
    height = Math.max(1, Math.round(size.height * chosen));
  }
  // What is padded to a size gets there without being enlarged.
  if (options.withoutEnlargement !== true || options.fit === 'contain')
    return { width: width ?? size.width, height: height ?? size.height };
  return { width: Math.min(width ?? size.width, size.width), height: Math.min(height ?? size.height, size.height) };
}

function extended(amount: unknown, size: Size): Size {
  const sides = membersOf(amount);
  const more = (side: string) => sideOf(typeof amount === 'number' ? amount : sides[side]) ?? 0;
  return {
    width: (size.width ?? 0) + more('left') + more('right'),
    height: (size.height ?? 0) + more('top') + more('bottom'),
  };
}

function extracted(region: unknown, size: Size): Size {
  const { width, height } = membersOf(region);
  return { width: sideOf(width) ?? size.width, height: sideOf(height) ?? size.height };
}

/** Turned by something in between it has corners of its own: that is measured when it is there. */
function rotated(angle: unknown, size: Size): Size {
  const degrees = typeof angle === 'number' ? Math.abs(angle % 180) : 0;
  if (degrees === 0) return size;
  return degrees === 90 ? { width: size.height, height: size.width } : { width: undefined, height: undefined };
}
