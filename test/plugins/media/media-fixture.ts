import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import sharp, { type Sharp } from 'sharp';
import type { ImageOperation, ImageTransformPlan, ImageTransformResult } from '../../../plugins/media/contract.ts';
import { MediaError } from '../../../plugins/media/library.ts';
import { buildMediaWorkerPoolOptions } from '../../../plugins/media/media-pool-options.ts';
import { createMediaService } from '../../../plugins/media/service.ts';
import { openWorkerPool } from '../../support/worker-pool.ts';

export const IMAGE_PLAN: ImageTransformPlan = {
  operations: [],
  format: 'png',
  animated: false,
  orient: true,
  maxSource: 6000,
  maxResult: 6000,
  failOn: 'warning',
  timeout: 15_000,
};

/** Opens the service `media` with its own worker processes and a temporary folder for images. */
export async function openMediaFixture(options?: Parameters<typeof buildMediaWorkerPoolOptions>[0]) {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-media-'));
  const pool = openWorkerPool(buildMediaWorkerPoolOptions(options));
  const media = createMediaService(pool);
  let count = 0;
  const place = (name: string) => join(folder, name);
  const fresh = () => place(`made-${count++}`);

  return {
    media,
    pool,
    place,
    fresh,
    files: () => readdir(folder),
    async put(name: string, bytes: string | Uint8Array): Promise<string> {
      await writeFile(place(name), bytes);
      return place(name);
    },
    /** Transforms an image into a new file; returns its properties and path. */
    async make(
      source: string,
      plan: Partial<ImageTransformPlan> = {},
    ): Promise<ImageTransformResult & { readonly path: string }> {
      const path = fresh();
      return { ...(await media.transform(source, path, { ...IMAGE_PLAN, ...plan })), path };
    },
    /** Returns the error of a transformation that must fail, and asserts that it leaves no file. */
    async refusal(source: string, plan: Partial<ImageTransformPlan> = {}): Promise<MediaError> {
      const before = await readdir(folder);
      const error = await media.transform(source, fresh(), { ...IMAGE_PLAN, ...plan }).then(
        (image) => expect.fail(`it was count: ${JSON.stringify(image)}`),
        (one: unknown) => one,
      );
      expect(error).to.be.instanceOf(MediaError);
      expect((error as MediaError).message).not.to.contain(folder);
      expect(await readdir(folder)).to.deep.equal(before);
      return error as MediaError;
    },
    async close() {
      await pool.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type MediaFixture = Awaited<ReturnType<typeof openMediaFixture>>;

/** A black image with a red, a green, a blue and a white corner, so that tests detect each rotation and flip. */
export function createCornersImage(width = 40, height = 20): Sharp {
  const corner = (background: string, left: number, top: number) => ({
    input: { create: { width: width / 4, height: height / 4, channels: 3 as const, background } },
    left,
    top,
  });
  return sharp({ create: { width, height, channels: 3, background: 'black' } }).composite([
    corner('#ff0000', 0, 0),
    corner('#00ff00', width - width / 4, 0),
    corner('#0000ff', 0, height - height / 4),
    corner('#ffffff', width - width / 4, height - height / 4),
  ]);
}

const NAMES: Readonly<Record<string, string>> = {
  '100': 'red',
  '010': 'green',
  '001': 'blue',
  '111': 'white',
  '000': 'black',
};

/** Reads the colours of the corners, row by row from the upper left, without applying the EXIF orientation. */
export async function readCornerColours(image: string | Buffer): Promise<readonly string[]> {
  const { data, info } = await sharp(image)
    .removeAlpha()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number) => {
    const start = (y * info.width + x) * info.channels;
    const [red = 0, green = red, blue = red] = data.subarray(start, start + Math.min(3, info.channels));
    return NAMES[[red, green, blue].map((one) => (one > 127 ? 1 : 0)).join('')] ?? `${red},${green},${blue}`;
  };
  const [right, bottom] = [info.width - 2, info.height - 2];
  return [at(1, 1), at(right, 1), at(1, bottom), at(right, bottom)];
}

export const createResizeOperation = (...args: unknown[]): ImageOperation => ['resize', ...args];
