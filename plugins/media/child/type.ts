import { fileTypeFromFile } from 'file-type';
import { headOf } from './kind.ts';
import { textTypeOf } from './markup.ts';

/** Of the head in which markup and text are told apart: a drawing may begin with a long comment. */
export const TEXT_HEAD = 64 * 1024;

/** What a moving PNG is: whoever knows PNG can show it. */
const SAME: Readonly<Record<string, string>> = { 'image/apng': 'image/png' };

/** The MIME type by content; undefined where the bytes say nothing. */
export async function typeOf(path: string, declared: string | undefined): Promise<string | undefined> {
  const byMagic = (await fileTypeFromFile(path).catch(() => undefined))?.mime;
  // Parameters say more than a type is asked for (`; codecs=…`).
  const bare = byMagic?.split(';', 1)[0]?.trim().toLowerCase();
  if (bare && bare !== 'application/xml') return SAME[bare] ?? bare;
  return textTypeOf(await headOf(path, TEXT_HEAD), declared) ?? bare;
}
