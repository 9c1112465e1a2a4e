import type { Sharp } from 'sharp';
import type { ImageOperation } from '../contract.ts';
import { Refused } from './refused.ts';

/** Methods of the library that take nothing but values: none of them reads a file. */
const OPERATIONS: ReadonlySet<string> = new Set(
  `toFormat jpeg png tiff webp avif resize extend extract trim rotate flip flop sharpen median blur flatten gamma negate
  normalise normalize clahe convolve threshold linear recomb modulate tint greyscale grayscale toColorspace toColourspace
  removeAlpha ensureAlpha extractChannel bandbool`.split(/\s+/),
);

const FORMATS: ReadonlySet<unknown> = new Set(['jpeg', 'jpg', 'png', 'tiff', 'webp', 'avif', 'gif']);

/** Options by which methods, these or coming ones, would take other images or files. */
const READING = /^(?:input|create|text|raw|icc|iccProfile|profile|file|fileOut|path|join|__proto__|constructor)$/;

/** Of the arguments of one operation. A kernel of `convolve` is the largest of them. */
const MAX_VALUES = 1100;
const MAX_TEXT = 100;
const MAX_DEPTH = 4;

/** Refuses what is not an operation, before anything is read. */
export function check(operations: readonly ImageOperation[]): void {
  for (const [name, ...args] of operations) {
    if (!OPERATIONS.has(name))
      throw new Refused('invalid', `There is no operation ${JSON.stringify(name)?.slice(0, 40)}`);
    const problem = problemOf(args, { values: 0 }, 0);
    if (problem) throw new Refused('invalid', `${name} is given ${problem}`);
    if (name === 'toFormat' && !FORMATS.has(args[0])) throw new Refused('invalid', 'toFormat is given no known format');
  }
}

function problemOf(value: unknown, count: { values: number }, depth: number): string | undefined {
  if (++count.values > MAX_VALUES) return 'too many values';
  if (depth > MAX_DEPTH) return 'values in too many values';
  if (typeof value === 'string') return value.length > MAX_TEXT ? 'a text that is too long' : undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'what is no number';
  if (typeof value === 'boolean' || value === null || value === undefined) return undefined;
  if (typeof value !== 'object') return 'what is no value';
  for (const [key, member] of Object.entries(value)) {
    if (READING.test(key)) return `${JSON.stringify(key)}, which is not allowed`;
    const problem = problemOf(member, count, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}

/** In order. What several calls of one method mean is for the library to say: the last one counts. */
export function apply(image: Sharp, operations: readonly ImageOperation[]): void {
  const methods = image as unknown as Record<string, (...args: unknown[]) => Sharp>;
  for (const [name, ...args] of operations) {
    try {
      methods[name]?.(...args);
    } catch (error) {
      const message = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : '';
      throw new Refused('invalid', `${name} cannot be applied${message.includes('/') ? '' : `: ${message}`}`);
    }
  }
}
