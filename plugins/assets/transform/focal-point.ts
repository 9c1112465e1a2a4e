import type { ImageOperation } from '../../media/contract.ts';

export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

export interface PixelPoint {
  readonly x: number;
  readonly y: number;
}

/**
 * Operations for `fit=cover` with `focus` as near to the middle as the edges allow. A resize to a smaller size comes before the cut:
 * then a JPEG is decoded at a fraction of its size, and no intermediate image is larger than source and result.
 */
export function buildFocalPointCoverOperations(
  focus: PixelPoint,
  source: PixelSize,
  target: PixelSize,
  { withoutEnlargement = false }: { readonly withoutEnlargement?: boolean | undefined } = {},
): readonly ImageOperation[] {
  const needed = Math.max(target.width / source.width, target.height / source.height);
  const scale = withoutEnlargement ? Math.min(1, needed) : needed;
  if (scale < 1) {
    const whole = { width: Math.round(source.width * scale), height: Math.round(source.height * scale) };
    const point = { x: focus.x * scale, y: focus.y * scale };
    return [resizeToFill(whole), ...extract(point, whole, target)];
  }
  const part = { width: Math.round(target.width / scale), height: Math.round(target.height / scale) };
  return [...extract(focus, source, part), ...(scale === 1 ? [] : [resizeToFill(target)])];
}

const resizeToFill = ({ width, height }: PixelSize): ImageOperation => ['resize', { fit: 'fill', height, width }];

/** Cuts a part of this size around a point, limited by the image. */
function extract(point: PixelPoint, whole: PixelSize, part: PixelSize): readonly ImageOperation[] {
  const width = Math.min(whole.width, Math.max(1, part.width));
  const height = Math.min(whole.height, Math.max(1, part.height));
  if (width === whole.width && height === whole.height) return [];
  const left = clamp(Math.round(point.x - width / 2), whole.width - width);
  const top = clamp(Math.round(point.y - height / 2), whole.height - height);
  return [['extract', { height, left, top, width }]];
}

const clamp = (value: number, most: number): number => Math.max(0, Math.min(most, value));
