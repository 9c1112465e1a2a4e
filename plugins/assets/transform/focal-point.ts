import type { ImageOperation } from '../../media/contract.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * `fit=cover` with `focus` as near to the middle as the edges allow. What makes the image smaller comes first: then a JPEG
 * is read at a fraction of its size, and nothing is in between that is larger than both ends.
 */
export function coverAround(
  focus: Point,
  source: Size,
  target: Size,
  { withoutEnlargement = false }: { readonly withoutEnlargement?: boolean | undefined } = {},
): readonly ImageOperation[] {
  const needed = Math.max(target.width / source.width, target.height / source.height);
  const scale = withoutEnlargement ? Math.min(1, needed) : needed;
  if (scale < 1) {
    const whole = { width: Math.round(source.width * scale), height: Math.round(source.height * scale) };
    const point = { x: focus.x * scale, y: focus.y * scale };
    return [filling(whole), ...extract(point, whole, target)];
  }
  const part = { width: Math.round(target.width / scale), height: Math.round(target.height / scale) };
  return [...extract(focus, source, part), ...(scale === 1 ? [] : [filling(target)])];
}

const filling = ({ width, height }: Size): ImageOperation => ['resize', { fit: 'fill', height, width }];

/** The part of this size around a point, as much of it as there is. */
function extract(point: Point, whole: Size, part: Size): readonly ImageOperation[] {
  const width = Math.min(whole.width, Math.max(1, part.width));
  const height = Math.min(whole.height, Math.max(1, part.height));
  if (width === whole.width && height === whole.height) return [];
  const left = within(Math.round(point.x - width / 2), whole.width - width);
  const top = within(Math.round(point.y - height / 2), whole.height - height);
  return [['extract', { height, left, top, width }]];
}

const within = (value: number, most: number): number => Math.max(0, Math.min(most, value));
