import { extname } from 'node:path';
import { fileExtensionForStoredObject } from './object-extension.ts';

const MAX_LENGTH = 255;
/** Control characters, and marks that change the direction of text. */
const INVISIBLE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The name under which browsers save a file: the last segment of the sender's name, without invisible characters. */
export function toDownloadName(sentName: string | undefined): string | undefined {
  const last = (sentName ?? '').toWellFormed().replace(INVISIBLE, '').split(/[\\/]/).at(-1)?.trim() ?? '';
  return last === '' || last === '.' || last === '..' ? undefined : shorten(last);
}

/** The name of a file that was sent without one. */
export function defaultDownloadName(type: string | undefined): string {
  const extension = fileExtensionForStoredObject(undefined, type);
  return extension === undefined ? 'file' : `file.${extension}`;
}

/** Shortens a name in front of its extension. */
function shorten(name: string): string {
  const letters = [...name];
  if (letters.length <= MAX_LENGTH) return name;
  const extension = [...extname(name)];
  const kept = extension.length > 20 ? [] : extension;
  return [...letters.slice(0, MAX_LENGTH - kept.length), ...kept].join('');
}
