import type { Failure } from '#kernel';
import { IMAGE_FORMATS, type ImageFormat, type ImageOperation } from '../../media/contract.ts';

/** All that `transforms` may name (conventions, "Operation names"), and what each is called from here on. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ...'resize extend extract trim rotate flip flop sharpen median blur flatten gamma negate normalise clahe convolve'
    .concat(' threshold linear recomb modulate tint greyscale toColourspace removeAlpha ensureAlpha extractChannel')
    .concat(' bandbool toFormat jpeg png tiff webp avif')
    .split(' ')
    .map((name) => [name, name] as const),
  ['normalize', 'normalise'],
  ['grayscale', 'greyscale'],
  ['toColorspace', 'toColourspace'],
]);

/** Of the arguments: deeper than what any operation takes. */
const DEEPEST = 5;

/** The value of `transforms`: JSON text, or in a stored preset also the list itself. */
export function readOperations(
  value: unknown,
  most: number,
  complain: (problem: string) => Failure,
): readonly ImageOperation[] {
  if (value === undefined || value === null) return [];
  const list = typeof value === 'string' ? parsed(value, complain) : value;
  if (!Array.isArray(list)) throw complain('transforms must be a JSON array of [operation, ...arguments]');
  if (list.length > most) throw complain(`transforms has ${list.length} operations, ${most} are allowed`);
  return list.map((one) => operation(one, complain));
}

function parsed(text: string, complain: (problem: string) => Failure): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw complain('transforms is not JSON');
  }
}

function operation(value: unknown, complain: (problem: string) => Failure): ImageOperation {
  if (!Array.isArray(value) || typeof value[0] !== 'string')
    throw complain('transforms must be a JSON array of [operation, ...arguments]');
  const [said, ...given] = value as [string, ...unknown[]];
  const name = NAMES.get(said);
  if (name === undefined) throw complain(`transforms may not use the operation "${said.slice(0, 40)}"`);
  if (!given.every((one) => isShallow(one, DEEPEST)))
    throw complain(`the arguments of ${said} in transforms are nested too deep`);
  const last = given.findLastIndex((one) => one !== null);
  const args = given.slice(0, last + 1).map(ordered);
  if (isFormat(name) || name === 'toFormat') return formatOperation(name, args, complain);
  return [name, ...args];
}

const isFormat = (name: unknown): name is ImageFormat => IMAGE_FORMATS.some((one) => one === name);

/** `["webp", { … }]` and `["toFormat", "webp", { … }]` are the same. */
function formatOperation(
  name: string,
  args: readonly unknown[],
  complain: (problem: string) => Failure,
): readonly ['toFormat', ImageFormat, ...unknown[]] {
  const [said, options, ...more] = name === 'toFormat' ? args : [name, ...args];
  const format = said === 'jpg' ? 'jpeg' : said;
  if (!isFormat(format)) throw complain(`toFormat in transforms must name one of jpg, ${IMAGE_FORMATS.join(', ')}`);
  if (options === undefined) return ['toFormat', format];
  if (typeof options !== 'object' || options === null || Array.isArray(options) || more.length > 0)
    throw complain(`what ${name} takes in transforms is an object of options`);
  const { quality } = options as { quality?: unknown };
  const fits = typeof quality === 'number' && Number.isInteger(quality) && quality >= 1 && quality <= 100;
  if (quality !== undefined && !fits)
    throw complain(`the quality of ${name} in transforms must be an integer from 1 to 100`);
  return ['toFormat', format, options];
}

function isShallow(value: unknown, depth: number): boolean {
  if (value === null || typeof value !== 'object') return true;
  return depth > 0 && Object.values(value).every((one) => isShallow(one, depth - 1));
}

/** Members in the order of their names, so that the same arguments are the same text. */
function ordered(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(ordered);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, inner]) => [name, ordered(inner)]));
}
