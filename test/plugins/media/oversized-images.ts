import { crc32, deflateSync, constants as zlib } from 'node:zlib';
import { createCornersImage } from './media-fixture.ts';

export function encodePngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A valid PNG of one colour that decodes to `side` × `side` pixels: 110 KiB for 30,000. */
export function pngBomb(side: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  // Bit depth 1 and colour type 3: each pixel is one bit, an index into a palette of two colours.
  header[8] = 1;
  header[9] = 3;
  const rows = Buffer.alloc(side * (1 + Math.ceil(side / 8)));
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    encodePngChunk('IHDR', header),
    encodePngChunk('PLTE', Buffer.from([255, 0, 0, 0, 0, 255])),
    encodePngChunk('IDAT', deflateSync(rows, { level: 9, strategy: zlib.Z_RLE })),
    encodePngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A small JPEG whose header claims `side` × `side` pixels. */
export async function jpegBomb(side: number): Promise<Buffer> {
  const bytes = Buffer.from(await createCornersImage().jpeg().toBuffer());
  const frame = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  bytes.writeUInt16BE(side, frame + 5);
  bytes.writeUInt16BE(side, frame + 7);
  return bytes;
}

/** A small GIF whose header and frame claim `side` × `side` pixels. */
export async function gifBomb(side: number): Promise<Buffer> {
  const bytes = Buffer.from(await createCornersImage().gif().toBuffer());
  bytes.writeUInt16LE(side, 6);
  bytes.writeUInt16LE(side, 8);
  const frame = bytes.indexOf(Buffer.from([0x2c, 0, 0, 0, 0]));
  bytes.writeUInt16LE(side, frame + 5);
  bytes.writeUInt16LE(side, frame + 7);
  return bytes;
}
