import type { Metadata, OutputInfo, Sharp } from 'sharp';
import type { ImageTransformPlan, ImageTransformResult } from '../contract.ts';
import { MAX_ANIMATION_FACTOR } from '../limits.ts';
import { loadDecoders, type SharpImageOpener } from './decoders.ts';
import { detectImageKind, IMAGE_KIND_HEAD_BYTES, readFileHead } from './image-kind.ts';
import { applyImageOperations, assertImageOperations } from './image-operations.ts';
import { assertImageResultSize } from './result-size.ts';
import { TransformRefusal } from './transform-refusal.ts';

/** Formats that can have several frames, as sources and as results. */
const ANIMATED: readonly string[] = ['gif', 'webp'];

export async function transformImage(
  source: string,
  target: string,
  plan: ImageTransformPlan,
): Promise<ImageTransformResult> {
  const kind = detectImageKind(await readFileHead(source, IMAGE_KIND_HEAD_BYTES).catch(() => Buffer.alloc(0)));
  if (!kind) throw new TransformRefusal('unsupported', 'The file is no image of a kind that is transformed');
  assertImageOperations(plan.operations);
  const open = await loadDecoders();
  const animated = plan.animated && ANIMATED.includes(kind) && ANIMATED.includes(plan.format);
  const header = await readHeader(open, source, plan, animated);
  assertImageResultSize(header, animated ? (header.pages ?? 1) : 1, plan);
  const maxPixels = plan.maxSource ** 2;
  const options = {
    failOn: plan.failOn,
    animated,
    limitInputPixels: animated ? maxPixels * MAX_ANIMATION_FACTOR : maxPixels,
  };
  // Frames cannot be rotated together, so an animation with a turned orientation stays as it is.
  const isSideways = animated && (header.pages ?? 1) > 1 && (header.orientation ?? 1) >= 5;
  const image = open(source, { ...options, autoOrient: plan.orient && !isSideways });
  applyImageOperations(image, plan.operations);
  image.toFormat(plan.format, plan.quality === undefined ? {} : { quality: plan.quality });
  try {
    return toImageInfo(await image.toFile(target), plan.maxResult);
  } catch (error) {
    throw error instanceof TransformRefusal ? error : await findRefusal(error, open(source, options), plan);
  }
}

async function readHeader(
  open: SharpImageOpener,
  source: string,
  plan: ImageTransformPlan,
  animated: boolean,
): Promise<Metadata> {
  let header: Metadata;
  try {
    header = await open(source, { failOn: plan.failOn, animated, limitInputPixels: false }).metadata();
  } catch {
    throw new TransformRefusal('damaged', 'The image cannot be read');
  }
  const { width, height, pages = 1, pageHeight = height } = header;
  if (width > plan.maxSource || pageHeight > plan.maxSource)
    throw new TransformRefusal(
      'tooLarge',
      `The image has ${width} × ${pageHeight} pixels; each side may have ${plan.maxSource}`,
    );
  if (animated && width * pageHeight * pages > plan.maxSource ** 2 * MAX_ANIMATION_FACTOR)
    throw new TransformRefusal(
      'tooLarge',
      `The image has ${pages} frames of ${width} × ${pageHeight} pixels, which are too many`,
    );
  return header;
}

function toImageInfo({ width, height, pageHeight = height, size }: OutputInfo, maxSide: number): ImageTransformResult {
  if (width > maxSide || pageHeight > maxSide)
    throw new TransformRefusal(
      'tooLarge',
      `The result would have ${width} × ${pageHeight} pixels; each side may have ${maxSide}`,
    );
  return { width, height: pageHeight, size };
}

/** Finds out whether the image, the operations or the disk failed: it decodes the image again, since messages are not reliable. */
async function findRefusal(error: unknown, image: Sharp, plan: ImageTransformPlan): Promise<TransformRefusal> {
  const message = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : '';
  if (/no space|quota|unable to open for write|write error/i.test(message))
    return new TransformRefusal('broken', 'The result cannot be written');
  if (/out of memory/i.test(message))
    return new TransformRefusal('tooLarge', 'The work needs more memory than it may have');
  if (/too large for the|exceeds pixel limit/i.test(message))
    return new TransformRefusal('tooLarge', `The image or the result has too many pixels for ${plan.format}`);
  try {
    await image.resize(1, 1, { fit: 'fill' }).raw().toBuffer();
  } catch {
    return new TransformRefusal('damaged', 'The image cannot be read to its end');
  }
  return new TransformRefusal(
    'invalid',
    `The operations cannot be applied to this image${message.includes('/') ? '' : `: ${message}`}`,
  );
}
