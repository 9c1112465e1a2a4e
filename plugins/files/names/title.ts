import { extname } from 'node:path';

const MAX_LENGTH = 255;

/** A title from a file name: `b-c_d.txt` is `B C D`. */
export function fileNameToTitle(name: string): string {
  const stem = name.slice(0, name.length - extname(name).length);
  const words = (/[^\s._-]/.test(stem) ? stem : name).split(/[\s._-]+/).filter((word) => word !== '');
  return shortenTitle(words.map(capitalise).join(' '));
}

export const shortenTitle = (text: string): string => [...text].slice(0, MAX_LENGTH).join('');

function capitalise(word: string): string {
  const [first = '', ...rest] = word;
  return first.toUpperCase() + rest.join('');
}
