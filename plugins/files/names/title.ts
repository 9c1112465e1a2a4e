import { extname } from 'node:path';

const LONGEST = 255;

/** A file's name as a person would write it: `b-c_d.txt` is `B C D`. */
export function titleOf(name: string): string {
  const stem = name.slice(0, name.length - extname(name).length);
  const words = (/[^\s._-]/.test(stem) ? stem : name).split(/[\s._-]+/).filter((word) => word !== '');
  return shortened(words.map(capitalised).join(' '));
}

export const shortened = (text: string): string => [...text].slice(0, LONGEST).join('');

function capitalised(word: string): string {
  const [first = '', ...rest] = word;
  return first.toUpperCase() + rest.join('');
}
