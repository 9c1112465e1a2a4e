import sharp from 'sharp';

/** Creates an image of 12 megapixels that compresses like a photo: large shapes, fine grain, 3 MB as JPEG. */
export async function createPhotoLikeJpeg(): Promise<Buffer> {
  const size = { width: 4000, height: 3000 };
  const shapes = await sharp({ create: { width: 40, height: 30, ...noise(128, 60) } })
    .resize({ ...size, kernel: 'cubic' })
    .png({ compressionLevel: 0 })
    .toBuffer();
  const grain = await sharp({ create: { ...size, ...noise(128, 24) } })
    .png({ compressionLevel: 0 })
    .toBuffer();
  return sharp(shapes)
    .composite([{ input: grain, blend: 'soft-light' }])
    .jpeg({ quality: 88 })
    .toBuffer();
}

const noise = (mean: number, sigma: number) => ({
  channels: 3 as const,
  // Required by the types; the noise covers it.
  background: 'gray',
  noise: { type: 'gaussian' as const, mean, sigma },
});
