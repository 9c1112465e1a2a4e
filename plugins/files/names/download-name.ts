import { extname } from 'node:path';
import { extensionFor } from './extension.ts';

const LONGEST = 255;
/** Control characters, and those that make a name read backwards. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** What a file is called when it is saved, from what its sender calls it: the last part of a path, without surprises in it. */
export function downloadName(sent: string | undefined): string | undefined {
  const last = (sent ?? '').toWellFormed().replace(UNSEEN, '').split(/[\\/]/).at(-1)?.trim() ?? '';
  return last === '' || last === '.' || last === '..' ? undefined : cut(last);
}

/** For a file nobody has named. */
export function defaultName(type: string | undefined): string {
  const extension = extensionFor(undefined, type);
  return extension === undefined ? 'file' : `file.${extension}`;
}

/** Shortened in front of its extension. */
function cut(name: string): string {
  const letters = [...name];
  if (letters.length <= LONGEST) return name;
  const extension = [...extname(name)];
  const kept = extension.length > 20 ? [] : extension;
  return [...letters.slice(0, LONGEST - kept.length), ...kept].join('');
}
