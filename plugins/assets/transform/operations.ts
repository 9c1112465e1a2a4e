import type { Failure } from '#kernel';
import { IMAGE_FORMATS, type ImageFormat, type ImageOperation } from '../../media/contract.ts';

/** Operations that `transforms` may name (conventions, "Operation names"), with the name that the plan uses. */
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

/** Maximum nesting depth of the arguments of an operation: more than any operation takes. */
const MAX_DEPTH = 5;

/** Parses the value of `transforms`: JSON text, or the list itself in a stored preset. */
export function parseImageOperations(
  value: unknown,
  maxOperations: number,
  createFailure: (problem: string) => Failure,
): readonly ImageOperation[] {
  if (value === undefined || value === null) return [];
  const list = typeof value === 'string' ? parseJson(value, createFailure) : value;
  if (!Array.isArray(list)) throw createFailure('transforms must be a JSON array of [operation, ...arguments]');
  if (list.length > maxOperations)
    throw createFailure(`transforms has ${list.length} operations, ${maxOperations} are allowed`);
  return list.map((one) => parseOperation(one, createFailure));
}

function parseJson(text: string, createFailure: (problem: string) => Failure): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw createFailure('transforms is not JSON');
  }
}

function parseOperation(value: unknown, createFailure: (problem: string) => Failure): ImageOperation {
  if (!Array.isArray(value) || typeof value[0] !== 'string')
    throw createFailure('transforms must be a JSON array of [operation, ...arguments]');
  const [rawName, ...rawArguments] = value as [string, ...unknown[]];
  const name = NAMES.get(rawName);
  if (name === undefined) throw createFailure(`transforms may not use the operation "${rawName.slice(0, 40)}"`);
  if (!rawArguments.every((one) => isShallow(one, MAX_DEPTH)))
    throw createFailure(`the arguments of ${rawName} in transforms are nested too deep`);
  const last = rawArguments.findLastIndex((one) => one !== null);
  const args = rawArguments.slice(0, last + 1).map(sortMembers);
  if (isImageFormat(name) || name === 'toFormat') return parseFormatOperation(name, args, createFailure);
  return [name, ...args];
}

const isImageFormat = (name: unknown): name is ImageFormat => IMAGE_FORMATS.some((one) => one === name);

/** `["webp", { … }]` and `["toFormat", "webp", { … }]` are the same. */
function parseFormatOperation(
  name: string,
  args: readonly unknown[],
  createFailure: (problem: string) => Failure,
): readonly ['toFormat', ImageFormat, ...unknown[]] {
  const [formatName, options, ...more] = name === 'toFormat' ? args : [name, ...args];
  const format = formatName === 'jpg' ? 'jpeg' : formatName;
  if (!isImageFormat(format))
    throw createFailure(`toFormat in transforms must name one of jpg, ${IMAGE_FORMATS.join(', ')}`);
  if (options === undefined) return ['toFormat', format];
  if (typeof options !== 'object' || options === null || Array.isArray(options) || more.length > 0)
    throw createFailure(`what ${name} takes in transforms is an object of options`);
  const { quality } = options as { quality?: unknown };
  const isValidQuality = typeof quality === 'number' && Number.isInteger(quality) && quality >= 1 && quality <= 100;
  if (quality !== undefined && !isValidQuality)
    throw createFailure(`the quality of ${name} in transforms must be an integer from 1 to 100`);
  return ['toFormat', format, options];
}

function isShallow(value: unknown, depth: number): boolean {
  if (value === null || typeof value !== 'object') return true;
  return depth > 0 && Object.values(value).every((one) => isShallow(one, depth - 1));
}

/** Sorts members by name, so that equal arguments give the same text. */
function sortMembers(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(sortMembers);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, inner]) => [name, sortMembers(inner)]));
}
