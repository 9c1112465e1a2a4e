import type { Sharp, SharpOptions } from 'sharp';

/** The only enabled decoders: the others of libvips are not hardened against hostile bytes. */
const LOADERS = ['Jpeg', 'Png', 'Webp', 'Tiff', 'Heif', 'Nsgif'].map((name) => `VipsForeignLoad${name}File`);

export type SharpImageOpener = (path: string, options?: SharpOptions) => Sharp;

let loading: Promise<SharpImageOpener> | undefined;

/** Loads the decoders with the first image: inspections of sound and text need less memory without them. */
export const loadDecoders = (): Promise<SharpImageOpener> => {
  loading ??= load();
  return loading;
};

async function load(): Promise<SharpImageOpener> {
  const { default: sharp } = await import('sharp');
  // No result is requested twice, so nothing is cached.
  sharp.cache(false);
  sharp.concurrency(Math.max(1, Number(process.argv[2]) || 1));
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: LOADERS });
  return (path, options) => sharp(path, { unlimited: false, ...options });
}
