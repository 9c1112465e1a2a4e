import { hash } from 'node:crypto';
import type { ImageFormat, ImageOperation, ImageTransformPlan } from '../../media/contract.ts';
import { variantPrefix } from '../../storage/library.ts';
import type { FileRecord, ImageVariant } from '../variant.ts';
import { buildFocalPointCoverOperations } from './focal-point.ts';
import { canBeAnimated, chooseBestFormat, extensionOfFormat } from './formats.ts';
import type { ImageTransformLimits } from './limits.ts';
import type { ImageTransformParameters } from './parameters.ts';

/**
 * Part of the hash that names a variant. Increment it when the same plan makes other bytes than before, so that stored images are
 * made again.
 */
const RECIPE_VERSION = 1;

/** Plans the image of a request; undefined if the parameters change nothing. Equivalent parameters make the same plan. */
export function createImagePlan(
  parameters: ImageTransformParameters,
  file: FileRecord,
  source: ImageFormat,
  accept: string | undefined,
  limits: ImageTransformLimits,
): ImageTransformPlan | undefined {
  const { width, height, quality, transforms } = parameters;
  if (!(width || height || quality || parameters.format) && transforms.length === 0) return undefined;
  const rotations = transforms.filter(([name]) => name === 'rotate');
  // The operation `rotate` without an angle applies the orientation of the image, which is the default.
  const orient = rotations.length === 0 || rotations.some((one) => one.length === 1);
  const formatOperation = transforms.findLast(([name]) => name === 'toFormat');
  const format = chooseFormat(parameters, formatOperation, source, () => chooseBestFormat(source, accept));
  const options = formatOperation?.[1] === format ? { ...(formatOperation[2] as Record<string, unknown>) } : {};
  const { quality: formatQuality, ...others } = options;
  const operations: ImageOperation[] = [
    ...resizeOperations(parameters, file, orient),
    ...transforms.filter((one) => one[0] !== 'toFormat' && !(one[0] === 'rotate' && one.length === 1)),
    ...(Object.keys(others).length > 0 ? [['toFormat', format, others] as const] : []),
  ];
  const operationQuality = quality ?? (formatQuality as number | undefined);
  return {
    operations,
    format,
    // GIF has no quality.
    ...(operationQuality !== undefined && format !== 'gif' ? { quality: operationQuality } : {}),
    animated: canBeAnimated(source) && canBeAnimated(format) && !transforms.some(preventsAnimation),
    orient,
    ...limits,
  };
}

function chooseFormat(
  { format }: ImageTransformParameters,
  formatOperation: ImageOperation | undefined,
  source: ImageFormat,
  chooseBest: () => ImageFormat,
): ImageFormat {
  if (format === 'auto') return chooseBest();
  if (format !== undefined) return format === 'jpg' ? 'jpeg' : format;
  return (formatOperation?.[1] as ImageFormat | undefined) ?? source;
}

/** Frames are one tall image to the library: these operations would rotate or cut all of it, or reverse the frames. */
function preventsAnimation([name, ...args]: ImageOperation): boolean {
  if (name === 'resize') return args.some((one) => (one as { position?: unknown } | null)?.position !== undefined);
  return (name === 'rotate' && args.length > 0) || name === 'flip' || name === 'trim';
}

function resizeOperations(
  parameters: ImageTransformParameters,
  file: FileRecord,
  orient: boolean,
): readonly ImageOperation[] {
  const { width, height, fit = 'cover', withoutEnlargement } = parameters;
  if (width === undefined && height === undefined) return [];
  const enlargement = withoutEnlargement ? { withoutEnlargement: true } : {};
  // With only one side, the other follows from the aspect ratio, so every fit is the same.
  if (width === undefined || height === undefined)
    return [['resize', width === undefined ? { height, ...enlargement } : { width, ...enlargement }]];
  const x = parameters.focal_point_x ?? file.focal_point_x;
  const y = parameters.focal_point_y ?? file.focal_point_y;
  const source = { width: file.width ?? 0, height: file.height ?? 0 };
  // The focal point refers to the oriented image, so it is not valid without the orientation.
  const isPointValid = source.width > 0 && source.height > 0 && orient;
  if (fit === 'cover' && isPointValid && x !== null && y !== null)
    return buildFocalPointCoverOperations({ x, y }, source, { width, height }, { withoutEnlargement });
  return [['resize', { fit, height, width, ...enlargement }]];
}

/** Describes the variant that a plan makes. Its name is a hash of everything that determines the bytes, and of nothing else. */
export function buildImageVariant(file: FileRecord, plan: ImageTransformPlan): ImageVariant {
  const { operations, format, quality, animated, orient, failOn } = plan;
  const text = JSON.stringify([RECIPE_VERSION, operations, format, quality ?? null, animated, orient, failOn]);
  const extension = extensionOfFormat(format);
  const name = `${variantPrefix(file.filename_disk)}${hash('sha256', text).slice(0, 32)}.${extension}`;
  return { name, type: `image/${format}`, extension, plan };
}
