import type { Sharp } from 'sharp';
import type { ImageOperation } from '../contract.ts';
import { TransformRefusal } from './transform-refusal.ts';

/** Methods of sharp that take plain values only and read no file. */
const OPERATIONS: ReadonlySet<string> = new Set(
  `toFormat jpeg png tiff webp avif resize extend extract trim rotate flip flop sharpen median blur flatten gamma negate
  normalise normalize clahe convolve threshold linear recomb modulate tint greyscale grayscale toColorspace toColourspace
  removeAlpha ensureAlpha extractChannel bandbool`.split(/\s+/),
);

const FORMATS: ReadonlySet<unknown> = new Set(['jpeg', 'jpg', 'png', 'tiff', 'webp', 'avif', 'gif']);

/** Options that would read other images or files, in this or a later version of sharp. */
const FORBIDDEN_OPTIONS =
  /^(?:input|create|text|raw|icc|iccProfile|profile|file|fileOut|path|join|__proto__|constructor)$/;

/** Limits on the arguments of one operation. The largest is the kernel of `convolve`. */
const MAX_VALUES = 1100;
const MAX_TEXT = 100;
const MAX_DEPTH = 4;

/** Rejects unknown operations and arguments before the image is read. */
export function assertImageOperations(operations: readonly ImageOperation[]): void {
  for (const [name, ...args] of operations) {
    if (!OPERATIONS.has(name))
      throw new TransformRefusal('invalid', `There is no operation ${JSON.stringify(name)?.slice(0, 40)}`);
    const problem = findProblem(args, { values: 0 }, 0);
    if (problem) throw new TransformRefusal('invalid', `${name} is given ${problem}`);
    if (name === 'toFormat' && !FORMATS.has(args[0]))
      throw new TransformRefusal('invalid', 'toFormat is given no known format');
  }
}

function findProblem(value: unknown, count: { values: number }, depth: number): string | undefined {
  if (++count.values > MAX_VALUES) return 'too many values';
  if (depth > MAX_DEPTH) return 'values in too many values';
  if (typeof value === 'string') return value.length > MAX_TEXT ? 'a text that is too long' : undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'what is no number';
  if (typeof value === 'boolean' || value === null || value === undefined) return undefined;
  if (typeof value !== 'object') return 'what is no value';
  for (const [key, member] of Object.entries(value)) {
    if (FORBIDDEN_OPTIONS.test(key)) return `${JSON.stringify(key)}, which is not allowed`;
    const problem = findProblem(member, count, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}

/** Calls the methods of sharp in order. Of several calls of one method the last one counts, as in sharp. */
export function applyImageOperations(image: Sharp, operations: readonly ImageOperation[]): void {
  const methods = image as unknown as Record<string, (...args: unknown[]) => Sharp>;
  for (const [name, ...args] of operations) {
    try {
      methods[name]?.(...args);
    } catch (error) {
      const message = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : '';
      throw new TransformRefusal('invalid', `${name} cannot be applied${message.includes('/') ? '' : `: ${message}`}`);
    }
  }
}
