import type { Sharp, SharpOptions } from 'sharp';

/** The only formats whose decoders are let in: the others of the library were never meant for strangers' bytes. */
const LOADERS = ['Jpeg', 'Png', 'Webp', 'Tiff', 'Heif', 'Nsgif'].map((name) => `VipsForeignLoad${name}File`);

export type Open = (path: string, options?: SharpOptions) => Sharp;

let opened: Promise<Open> | undefined;

/** Loaded with the first image: what looks into sound and text needs less memory. */
export const decoders = (): Promise<Open> => {
  opened ??= load();
  return opened;
};

async function load(): Promise<Open> {
  const { default: sharp } = await import('sharp');
  // No result is asked for twice.
  sharp.cache(false);
  sharp.concurrency(Math.max(1, Number(process.argv[2]) || 1));
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: LOADERS });
  return (path, options) => sharp(path, { unlimited: false, ...options });
}
