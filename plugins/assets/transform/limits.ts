import { fail } from '#kernel';
import type { ImageTransformPlan } from '../../media/contract.ts';
import type { FileRecord } from '../variant.ts';

export interface ImageTransformConfig {
  ASSETS_TRANSFORM_MAX_OPERATIONS: number;
  ASSETS_TRANSFORM_MAX_CONCURRENT: number;
  ASSETS_TRANSFORM_IMAGE_MAX_DIMENSION: number;
  ASSETS_TRANSFORM_IMAGE_MAX_OUTPUT_DIMENSION: number;
  ASSETS_TRANSFORM_TIMEOUT: number;
  ASSETS_INVALID_IMAGE_SENSITIVITY_LEVEL: ImageTransformPlan['failOn'];
}

export type ImageTransformLimits = Pick<ImageTransformPlan, 'maxSource' | 'maxResult' | 'failOn' | 'timeout'>;

export const toImageTransformLimits = (config: ImageTransformConfig): ImageTransformLimits => ({
  maxSource: config.ASSETS_TRANSFORM_IMAGE_MAX_DIMENSION,
  maxResult: config.ASSETS_TRANSFORM_IMAGE_MAX_OUTPUT_DIMENSION,
  failOn: config.ASSETS_INVALID_IMAGE_SENSITIVITY_LEVEL,
  timeout: config.ASSETS_TRANSFORM_TIMEOUT,
});

/** Rejects an image whose row says that it is too large, before its bytes are read. @throws ILLEGAL_ASSET_TRANSFORMATION. */
export function assertImageSourceSize(file: FileRecord, { maxSource }: ImageTransformPlan): void {
  const oversized = (['width', 'height'] as const).filter((side) => (file[side] ?? 0) > maxSource);
  if (oversized.length === 0) return;
  throw fail(
    'ILLEGAL_ASSET_TRANSFORMATION',
    `The image has a side of ${Math.max(...oversized.map((side) => file[side] ?? 0))} pixels, more than the ${maxSource} allowed.`,
    {
      invalidTransformations: oversized,
    },
  );
}
