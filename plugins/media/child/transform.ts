import type { Metadata, OutputInfo, Sharp } from 'sharp';
import type { ImagePlan, Made } from '../contract.ts';
import { FRAMES } from '../limits.ts';
import { decoders, type Open } from './decoders.ts';
import { headOf, KIND_HEAD, kindOf } from './kind.ts';
import { apply, check } from './operations.ts';
import { Refused } from './refused.ts';
import { refuseOversize } from './sizes.ts';

/** Formats with several frames, as sources and as results. */
const MOVING: readonly string[] = ['gif', 'webp'];

export async function transform(source: string, target: string, plan: ImagePlan): Promise<Made> {
  const kind = kindOf(await headOf(source, KIND_HEAD).catch(() => Buffer.alloc(0)));
  if (!kind) throw new Refused('unsupported', 'The file is no image of a kind that is transformed');
  check(plan.operations);
  const open = await decoders();
  const animated = plan.animated && MOVING.includes(kind) && MOVING.includes(plan.format);
  const header = await headerOf(open, source, plan, animated);
  refuseOversize(header, animated ? (header.pages ?? 1) : 1, plan);
  const most = plan.maxSource ** 2;
  const reading = { failOn: plan.failOn, animated, limitInputPixels: animated ? most * FRAMES : most };
  // Frames that lie cannot be turned together: rather lying than not at all.
  const isLying = animated && (header.pages ?? 1) > 1 && (header.orientation ?? 1) >= 5;
  const image = open(source, { ...reading, autoOrient: plan.orient && !isLying });
  apply(image, plan.operations);
  image.toFormat(plan.format, plan.quality === undefined ? {} : { quality: plan.quality });
  try {
    return madeOf(await image.toFile(target), plan.maxResult);
  } catch (error) {
    throw error instanceof Refused ? error : await reasonOf(error, open(source, reading), plan);
  }
}

async function headerOf(open: Open, source: string, plan: ImagePlan, animated: boolean): Promise<Metadata> {
  let header: Metadata;
  try {
    header = await open(source, { failOn: plan.failOn, animated, limitInputPixels: false }).metadata();
  } catch {
    throw new Refused('damaged', 'The image cannot be read');
  }
  const { width, height, pages = 1, pageHeight = height } = header;
  if (width > plan.maxSource || pageHeight > plan.maxSource)
    throw new Refused(
      'tooLarge',
      `The image has ${width} × ${pageHeight} pixels; each side may have ${plan.maxSource}`,
    );
  if (animated && width * pageHeight * pages > plan.maxSource ** 2 * FRAMES)
    throw new Refused(
      'tooLarge',
      `The image has ${pages} frames of ${width} × ${pageHeight} pixels, which are too many`,
    );
  return header;
}

function madeOf({ width, height, pageHeight = height, size }: OutputInfo, most: number): Made {
  if (width > most || pageHeight > most)
    throw new Refused('tooLarge', `The result would have ${width} × ${pageHeight} pixels; each side may have ${most}`);
  return { width, height: pageHeight, size };
}

/** Whether it was the image, the operations or the disk. Asked of the image itself, not of the wording of an error. */
async function reasonOf(error: unknown, image: Sharp, plan: ImagePlan): Promise<Refused> {
  const said = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : '';
  if (/no space|quota|unable to open for write|write error/i.test(said))
    return new Refused('broken', 'The result cannot be written');
  if (/out of memory/i.test(said)) return new Refused('tooLarge', 'The work needs more memory than it may have');
  if (/too large for the|exceeds pixel limit/i.test(said))
    return new Refused('tooLarge', `The image or the result has too many pixels for ${plan.format}`);
  try {
    await image.resize(1, 1, { fit: 'fill' }).raw().toBuffer();
  } catch {
    return new Refused('damaged', 'The image cannot be read to its end');
  }
  return new Refused(
    'invalid',
    `The operations cannot be applied to this image${said.includes('/') ? '' : `: ${said}`}`,
  );
}
