import { type Failure, fail } from '#kernel';
import type { ImageOperation } from '../../media/contract.ts';
import { parseImageOperations } from './operations.ts';

/** Reads a value: undefined if it does not meet the `requirement`. */
interface ParameterReader<T> {
  readonly read: (value: unknown) => T | undefined;
  readonly requirement: string;
}

const FITS = ['cover', 'contain', 'inside', 'outside'] as const;
const FORMATS = ['jpg', 'png', 'webp', 'tiff', 'avif', 'auto'] as const;

/** Values are text in a query and may be JSON values in a stored preset. */
const PARAMETERS = {
  width: integer(1),
  height: integer(1),
  fit: oneOf(FITS),
  format: oneOf(FORMATS),
  quality: integer(1, 100),
  withoutEnlargement: flag(),
  focal_point_x: integer(0),
  focal_point_y: integer(0),
} as const;

type SimpleParameters = {
  readonly [K in keyof typeof PARAMETERS]?: Exclude<ReturnType<(typeof PARAMETERS)[K]['read']>, undefined>;
};

/** Transform parameters, not yet applied to a file. */
export interface ImageTransformParameters extends SimpleParameters {
  readonly transforms: readonly ImageOperation[];
}

const PARAMETER_NAMES = [...(Object.keys(PARAMETERS) as (keyof typeof PARAMETERS)[]), 'transforms'] as const;

export type ImageTransformRequest = { readonly key: string } | { readonly parameters: ImageTransformParameters };

/** Parses the transform parameters of a query; undefined without any. Other parameters are ignored. @throws INVALID_QUERY. */
export function parseTransformRequest(
  query: Readonly<Record<string, unknown>>,
  maxOperations: number,
): ImageTransformRequest | undefined {
  const names = PARAMETER_NAMES.filter((name) => query[name] !== undefined);
  for (const name of ['key', ...names])
    if (Array.isArray(query[name])) throw fail('INVALID_QUERY', `${name} is given more than once.`);
  if (query.key === undefined) {
    if (names.length === 0) return undefined;
    return {
      parameters: parseTransformParameters(query, maxOperations, (problem) => fail('INVALID_QUERY', `${problem}.`)),
    };
  }
  if (typeof query.key !== 'string' || query.key === '')
    throw fail('INVALID_QUERY', 'key must be the name of a preset.');
  if (names.length > 0) throw fail('INVALID_QUERY', `key cannot be combined with ${names.join(', ')}.`);
  return { key: query.key };
}

/** Parses parameters. A null member counts as missing. `createFailure` makes the error of an invalid one. */
export function parseTransformParameters(
  source: Readonly<Record<string, unknown>>,
  maxOperations: number,
  createFailure: (problem: string) => Failure,
): ImageTransformParameters {
  const parameters: Record<string, unknown> = {};
  for (const [name, { read, requirement }] of Object.entries<ParameterReader<unknown>>(PARAMETERS)) {
    if (source[name] === undefined || source[name] === null) continue;
    parameters[name] = read(source[name]);
    if (parameters[name] === undefined) throw createFailure(`${name} must be ${requirement}`);
  }
  return {
    ...(parameters as SimpleParameters),
    transforms: parseImageOperations(source.transforms, maxOperations, createFailure),
  };
}

function integer(minimum: number, maximum = Number.MAX_SAFE_INTEGER): ParameterReader<number> {
  return {
    read(value) {
      const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
      const isValid = typeof number === 'number' && Number.isInteger(number) && number >= minimum && number <= maximum;
      return isValid ? number : undefined;
    },
    requirement:
      maximum === Number.MAX_SAFE_INTEGER
        ? `an integer of at least ${minimum}`
        : `an integer from ${minimum} to ${maximum}`,
  };
}

function oneOf<const T extends string>(values: readonly T[]): ParameterReader<T> {
  return { read: (value) => values.find((one) => one === value), requirement: `one of ${values.join(', ')}` };
}

function flag(): ParameterReader<boolean> {
  // The bare name means true, as in `?download`.
  const MEANING: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
    ['', true],
    ['true', true],
    ['1', true],
    [true, true],
    ['false', false],
    ['0', false],
    [false, false],
  ]);
  return { read: (value) => MEANING.get(value), requirement: 'true or false' };
}
