import { hash } from 'node:crypto';
import type { ImageFormat, ImageOperation, ImagePlan } from '../../media/contract.ts';
import { variantPrefix } from '../../storage/library.ts';
import type { FileRecord, Variant } from '../variant.ts';
import { coverAround } from './focal-point.ts';
import { bestFormat, canMove, extensionOf } from './formats.ts';
import type { Limits } from './limits.ts';
import type { Wishes } from './parameters.ts';

/** Goes up when the same plan makes other bytes than before, so that nobody is served what was made by the old way. */
const RECIPE = 1;

/** Undefined where the wishes come to nothing. Two ways to say the same make the same plan. */
export function planOf(
  wishes: Wishes,
  file: FileRecord,
  source: ImageFormat,
  accept: string | undefined,
  limits: Limits,
): ImagePlan | undefined {
  const { width, height, quality, transforms } = wishes;
  if (!(width || height || quality || wishes.format) && transforms.length === 0) return undefined;
  const turns = transforms.filter(([name]) => name === 'rotate');
  // Without an angle it means what is done anyway.
  const orient = turns.length === 0 || turns.some((one) => one.length === 1);
  const making = transforms.findLast(([name]) => name === 'toFormat');
  const format = formatFor(wishes, making, source, () => bestFormat(source, accept));
  const options = making?.[1] === format ? { ...(making[2] as Record<string, unknown>) } : {};
  const { quality: quiet, ...others } = options;
  const operations: ImageOperation[] = [
    ...sized(wishes, file, orient),
    ...transforms.filter((one) => one[0] !== 'toFormat' && !(one[0] === 'rotate' && one.length === 1)),
    ...(Object.keys(others).length > 0 ? [['toFormat', format, others] as const] : []),
  ];
  const fine = quality ?? (quiet as number | undefined);
  return {
    operations,
    format,
    // There is no such thing in a GIF.
    ...(fine !== undefined && format !== 'gif' ? { quality: fine } : {}),
    animated: canMove(source) && canMove(format) && !transforms.some(stopsMotion),
    orient,
    ...limits,
  };
}

function formatFor(
  { format }: Wishes,
  making: ImageOperation | undefined,
  source: ImageFormat,
  best: () => ImageFormat,
): ImageFormat {
  if (format === 'auto') return best();
  if (format !== undefined) return format === 'jpg' ? 'jpeg' : format;
  return (making?.[1] as ImageFormat | undefined) ?? source;
}

/** Frames are worked on as one tall image: these would turn or cut all of it, or run the frames backwards. */
function stopsMotion([name, ...args]: ImageOperation): boolean {
  if (name === 'resize') return args.some((one) => (one as { position?: unknown } | null)?.position !== undefined);
  return (name === 'rotate' && args.length > 0) || name === 'flip' || name === 'trim';
}

function sized(wishes: Wishes, file: FileRecord, orient: boolean): readonly ImageOperation[] {
  const { width, height, fit = 'cover', withoutEnlargement } = wishes;
  if (width === undefined && height === undefined) return [];
  const careful = withoutEnlargement ? { withoutEnlargement: true } : {};
  // One side decides the other: every fit is the same then.
  if (width === undefined || height === undefined)
    return [['resize', width === undefined ? { height, ...careful } : { width, ...careful }]];
  const x = wishes.focal_point_x ?? file.focal_point_x;
  const y = wishes.focal_point_y ?? file.focal_point_y;
  const source = { width: file.width ?? 0, height: file.height ?? 0 };
  // The point is one of the image as it is seen, so it says nothing about one that is turned otherwise.
  const known = source.width > 0 && source.height > 0 && orient;
  if (fit === 'cover' && known && x !== null && y !== null)
    return coverAround({ x, y }, source, { width, height }, { withoutEnlargement });
  return [['resize', { fit, height, width, ...careful }]];
}

/** Named for all that decides its bytes, and for nothing else. */
export function variantOf(file: FileRecord, plan: ImagePlan): Variant {
  const { operations, format, quality, animated, orient, failOn } = plan;
  const text = JSON.stringify([RECIPE, operations, format, quality ?? null, animated, orient, failOn]);
  const extension = extensionOf(format);
  const name = `${variantPrefix(file.filename_disk)}${hash('sha256', text).slice(0, 32)}.${extension}`;
  return { name, type: `image/${format}`, extension, plan };
}
