import { deflateSync } from 'node:zlib';
import type { Sharp } from 'sharp';

export interface SampleImage {
  readonly name: string;
  /** MIME type that the client declares at the upload. */
  readonly type: string;
  readonly bytes: Buffer;
  /** Width in pixels after the EXIF orientation is applied. */
  readonly width: number;
  readonly height: number;
}

const sharp = async () => (await import('sharp')).default;

/** Colours of the four quarters of a test image, all different so that tests detect each rotation, flip and crop. */
export const QUARTER_COLOURS = ['red', 'lime', 'blue', 'white'] as const;
export const COLOURS = {
  red: [255, 0, 0],
  lime: [0, 255, 0],
  blue: [0, 0, 255],
  white: [255, 255, 255],
  black: [0, 0, 0],
  grey: [128, 128, 128],
} as const;
export type Colour = keyof typeof COLOURS;

/** Draws an image with four quarters in these colours, row by row from the upper left. */
export async function drawQuarters(
  width: number,
  height: number,
  colours: readonly Colour[] = QUARTER_COLOURS,
): Promise<Sharp> {
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const quarter = (y < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1);
      pixels.set(COLOURS[colours[quarter] as Colour], (y * width + x) * 3);
    }
  return (await sharp())(pixels, { raw: { width, height, channels: 3 } });
}

/** A JPEG with EXIF orientation 6: the pixels are stored rotated, and viewers show `quarters(width, height)`. */
async function oriented(width: number, height: number): Promise<Buffer> {
  const lying = await drawQuarters(height, width, ['lime', 'white', 'red', 'blue']);
  return lying.withMetadata({ orientation: 6 }).jpeg({ quality: 95 }).toBuffer();
}

async function moving(width: number, height: number): Promise<Sharp> {
  const orders: (readonly Colour[])[] = [
    QUARTER_COLOURS,
    ['white', 'blue', 'lime', 'red'],
    ['blue', 'white', 'red', 'lime'],
  ];
  const frames = await Promise.all(
    orders.map(async (one) => (await drawQuarters(width, height, one)).png().toBuffer()),
  );
  return (await sharp())(frames, { join: { animated: true } });
}

async function sixteenBits(width: number, height: number): Promise<Buffer> {
  return (await drawQuarters(width, height)).toColourspace('rgb16').png().toBuffer();
}

const chunk = (name: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc(body), body.length + 4);
  return framed;
};

function crc(bytes: Buffer): number {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return (value ^ 0xffffffff) >>> 0;
}

/** A PNG of few bytes that decodes to `side` × `side` pixels. */
export function createPngDecodeBomb(side: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([1, 0, 0, 0, 0], 8);
  const rows = deflateSync(Buffer.alloc(side * (1 + Math.ceil(side / 8))), { level: 9 });
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
}

export const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40" fill="red"/></svg>`;

/** Sample images in every format that can be transformed, 60 × 40 pixels after the EXIF orientation is applied. */
export async function createSampleImages(): Promise<Readonly<Record<string, SampleImage>>> {
  const size = { width: 60, height: 40 };
  const plain = await drawQuarters(60, 40);
  const createSample = async (name: string, type: string, bytes: Buffer | Promise<Buffer>): Promise<SampleImage> => ({
    name,
    type,
    bytes: await bytes,
    ...size,
  });
  return {
    jpeg: await createSample('plain.jpg', 'image/jpeg', plain.clone().jpeg({ quality: 95 }).toBuffer()),
    'jpeg on its side': await createSample('side.jpg', 'image/jpeg', oriented(60, 40)),
    'cmyk jpeg': await createSample(
      'print.jpg',
      'image/jpeg',
      plain.clone().toColourspace('cmyk').jpeg({ quality: 95 }).toBuffer(),
    ),
    'grey jpeg': await createSample(
      'grey.jpg',
      'image/jpeg',
      plain.clone().greyscale().jpeg({ quality: 95 }).toBuffer(),
    ),
    png: await createSample('plain.png', 'image/png', plain.clone().png().toBuffer()),
    '16-bit png': await createSample('deep.png', 'image/png', sixteenBits(60, 40)),
    webp: await createSample('plain.webp', 'image/webp', plain.clone().webp({ lossless: true }).toBuffer()),
    'animated webp': await createSample(
      'film.webp',
      'image/webp',
      (await moving(60, 40)).webp({ lossless: true }).toBuffer(),
    ),
    'animated gif': await createSample('film.gif', 'image/gif', (await moving(60, 40)).gif().toBuffer()),
    avif: await createSample('plain.avif', 'image/avif', plain.clone().avif({ quality: 90 }).toBuffer()),
    tiff: await createSample('plain.tiff', 'image/tiff', plain.clone().tiff({ compression: 'lzw' }).toBuffer()),
    'png called jpg': await createSample('liar.jpg', 'image/jpeg', plain.clone().png().toBuffer()),
  };
}

export interface DecodedImage {
  readonly width: number;
  readonly height: number;
  readonly format: string;
  readonly pages: number;
  readonly quarters: readonly Colour[];
  at(x: number, y: number): Colour;
}

/** Decodes the first frame of an image: its size, format, and the colours at its quarters. */
export async function decodeImage(bytes: Uint8Array): Promise<DecodedImage> {
  const open = await sharp();
  const { format, compression, pages = 1 } = await open(bytes).metadata();
  const { data, info } = await open(bytes)
    .autoOrient()
    .flatten()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number): Colour => {
    const from = (Math.floor(y) * info.width + Math.floor(x)) * info.channels;
    const pixel = info.channels < 3 ? [data[from], data[from], data[from]] : [...data.subarray(from, from + 3)];
    return nearest(pixel as number[]);
  };
  const [left, right] = [info.width / 4, (info.width * 3) / 4];
  const [above, below] = [info.height / 4, (info.height * 3) / 4];
  return {
    width: info.width,
    height: info.height,
    format: format === 'heif' ? (compression === 'av1' ? 'avif' : 'heif') : String(format),
    pages,
    quarters: [at(left, above), at(right, above), at(left, below), at(right, below)],
    at,
  };
}

function nearest(pixel: readonly number[]): Colour {
  const far = (colour: Colour) =>
    (COLOURS[colour] as readonly number[]).reduce((sum, one, at) => sum + (one - (pixel[at] ?? 0)) ** 2, 0);
  return (Object.keys(COLOURS) as Colour[]).sort((a, b) => far(a) - far(b))[0] as Colour;
}
