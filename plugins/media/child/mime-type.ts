import { fileTypeFromFile } from 'file-type';
import { readFileHead } from './image-kind.ts';
import { detectTextType } from './text-type.ts';

/** Bytes at the start of a file for detecting markup and text: an SVG may begin with a long comment. */
export const TEXT_HEAD_BYTES = 64 * 1024;

/** An animated PNG counts as PNG, which every client can show. */
const ALIASES: Readonly<Record<string, string>> = { 'image/apng': 'image/png' };

/** The MIME type by content; undefined if the content is not recognised. */
export async function detectMimeType(path: string, declared: string | undefined): Promise<string | undefined> {
  const byMagic = (await fileTypeFromFile(path).catch(() => undefined))?.mime;
  // Drops parameters such as `; codecs=…`.
  const bare = byMagic?.split(';', 1)[0]?.trim().toLowerCase();
  if (bare && bare !== 'application/xml') return ALIASES[bare] ?? bare;
  return detectTextType(await readFileHead(path, TEXT_HEAD_BYTES), declared) ?? bare;
}
