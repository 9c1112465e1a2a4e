import type { Metadata } from 'sharp';
import type { ImageOperation, ImageTransformPlan } from '../contract.ts';
import { MAX_ANIMATION_FACTOR } from '../limits.ts';
import { TransformRefusal } from './transform-refusal.ts';

/** Sides that are not known before the work (after `trim`) are undefined. */
interface KnownSize {
  readonly width: number | undefined;
  readonly height: number | undefined;
}

/** Rejects a result that would be too large by its arguments, before the work. The result itself is measured again. */
export function assertImageResultSize(header: Metadata, pages: number, plan: ImageTransformPlan): void {
  const { width, height, pageHeight = height, orientation = 1 } = header;
  // Orientations 5 to 8 swap width and height.
  const isTurned = plan.orient && orientation >= 5;
  let size: KnownSize = isTurned ? { width: pageHeight, height: width } : { width, height: pageHeight };
  for (const operation of plan.operations) {
    size = sizeAfter(operation, size);
    for (const side of [size.width, size.height])
      if (side !== undefined && side > plan.maxResult)
        throw new TransformRefusal(
          'tooLarge',
          `${operation[0]} would make ${side} pixels; each side may have ${plan.maxResult}`,
        );
  }
  if ((size.width ?? 0) * (size.height ?? 0) * pages > plan.maxResult ** 2 * MAX_ANIMATION_FACTOR)
    throw new TransformRefusal('tooLarge', `${pages} frames of ${size.width} × ${size.height} pixels are too many`);
}

function sizeAfter([name, ...args]: ImageOperation, size: KnownSize): KnownSize {
  if (name === 'resize') return sizeAfterResize(args, size);
  if (name === 'extend') return sizeAfterExtend(args[0], size);
  if (name === 'extract') return sizeAfterExtract(args[0], size);
  if (name === 'rotate') return sizeAfterRotate(args[0], size);
  return name === 'trim' ? { width: undefined, height: undefined } : size;
}

const toSide = (value: unknown): number | undefined => (typeof value === 'number' && value > 0 ? value : undefined);
const toMembers = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

function sizeAfterResize(args: readonly unknown[], size: KnownSize): KnownSize {
  const options = toMembers(args.find((one) => typeof one === 'object' && one !== null));
  let width = toSide(typeof args[0] === 'number' ? args[0] : options.width);
  let height = toSide(typeof args[1] === 'number' ? args[1] : options.height);
  if (size.width === undefined || size.height === undefined)
    return options.withoutEnlargement === true ? size : { width, height };
  const [across, down] = [(width ?? Number.NaN) / size.width, (height ?? Number.NaN) / size.height];
  const known = [across, down].filter((one) => !Number.isNaN(one));
  // With one side alone, or with fit inside or outside, the ratio stays.
  if ((known.length === 1 && options.fit !== 'fill') || options.fit === 'inside' || options.fit === 'outside') {
    const chosen = options.fit === 'outside' ? Math.max(...known) : Math.min(...known);
    if (known.length === 0) return size;
    width = Math.max(1, Math.round(size.width * chosen));
    height = Math.max(1, Math.round(size.height * chosen));
  }
  // fit=contain pads to the size without enlarging.
  if (options.withoutEnlargement !== true || options.fit === 'contain')
    return { width: width ?? size.width, height: height ?? size.height };
  return { width: Math.min(width ?? size.width, size.width), height: Math.min(height ?? size.height, size.height) };
}

function sizeAfterExtend(amount: unknown, size: KnownSize): KnownSize {
  const sides = toMembers(amount);
  const more = (side: string) => toSide(typeof amount === 'number' ? amount : sides[side]) ?? 0;
  return {
    width: (size.width ?? 0) + more('left') + more('right'),
    height: (size.height ?? 0) + more('top') + more('bottom'),
  };
}

function sizeAfterExtract(region: unknown, size: KnownSize): KnownSize {
  const { width, height } = toMembers(region);
  return { width: toSide(width) ?? size.width, height: toSide(height) ?? size.height };
}

/** Angles other than multiples of 90 degrees enlarge the canvas: that size is measured after the work. */
function sizeAfterRotate(angle: unknown, size: KnownSize): KnownSize {
  const degrees = typeof angle === 'number' ? Math.abs(angle % 180) : 0;
  if (degrees === 0) return size;
  return degrees === 90 ? { width: size.height, height: size.width } : { width: undefined, height: undefined };
}
