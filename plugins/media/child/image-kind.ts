import { open } from 'node:fs/promises';

/** Kinds of images that the decoders read, by their first bytes: names and declared types do not count. */
export type ImageKind = 'jpeg' | 'png' | 'gif' | 'webp' | 'tiff' | 'avif';

export async function readFileHead(path: string, length: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const head = Buffer.alloc(length);
    let filled = 0;
    for (;;) {
      const { bytesRead } = await file.read(head, filled, length - filled, filled);
      filled += bytesRead;
      if (bytesRead === 0 || filled === length) return head.subarray(0, filled);
    }
  } finally {
    await file.close();
  }
}

/** Bytes at the start of a file that determine the kind of image. */
export const IMAGE_KIND_HEAD_BYTES = 64;

export function detectImageKind(head: Buffer): ImageKind | undefined {
  const text = head.toString('latin1', 0, IMAGE_KIND_HEAD_BYTES);
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (/^GIF8[79]a/.test(text)) return 'gif';
  if (/^RIFF.{4}WEBP/s.test(text)) return 'webp';
  if (/^(?:II[*+]\0|MM\0[*+])/.test(text)) return 'tiff';
  if (text.startsWith('ftyp', 4))
    return parseBrands(head).some((brand) => /^avi[fs]$/.test(brand)) ? 'avif' : undefined;
  return undefined;
}

/** The major brand and the compatible brands; the version between them is skipped. */
function parseBrands(head: Buffer): readonly string[] {
  const end = Math.min(head.length >= 4 ? head.readUInt32BE(0) : 0, head.length);
  const brands = [head.toString('latin1', 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(head.toString('latin1', at, at + 4));
  return brands;
}
