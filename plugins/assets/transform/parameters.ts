import { type Failure, fail } from '#kernel';
import type { ImageOperation } from '../../media/contract.ts';
import { readOperations } from './operations.ts';

/** How a value is read: undefined where it is not what it `must` be. */
interface Parameter<T> {
  readonly read: (value: unknown) => T | undefined;
  readonly must: string;
}

const FITS = ['cover', 'contain', 'inside', 'outside'] as const;
const FORMATS = ['jpg', 'png', 'webp', 'tiff', 'avif', 'auto'] as const;

/** Values are texts in a query and may be JSON values in a stored preset. */
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

type Simple = {
  readonly [K in keyof typeof PARAMETERS]?: Exclude<ReturnType<(typeof PARAMETERS)[K]['read']>, undefined>;
};

/** What is to be done with an image, before it is known what image. */
export interface Wishes extends Simple {
  readonly transforms: readonly ImageOperation[];
}

const TRANSFORMATIONS = [...(Object.keys(PARAMETERS) as (keyof typeof PARAMETERS)[]), 'transforms'] as const;

export type Asked = { readonly key: string } | { readonly wishes: Wishes };

/** What a query asks for; undefined where it says nothing about images. Other names in it are somebody else's. */
export function readQuery(query: Readonly<Record<string, unknown>>, maxOperations: number): Asked | undefined {
  const others = TRANSFORMATIONS.filter((name) => query[name] !== undefined);
  for (const name of ['key', ...others])
    if (Array.isArray(query[name])) throw fail('INVALID_QUERY', `${name} is given more than once.`);
  if (query.key === undefined) {
    if (others.length === 0) return undefined;
    return { wishes: readWishes(query, maxOperations, (problem) => fail('INVALID_QUERY', `${problem}.`)) };
  }
  if (typeof query.key !== 'string' || query.key === '')
    throw fail('INVALID_QUERY', 'key must be the name of a preset.');
  if (others.length > 0) throw fail('INVALID_QUERY', `key cannot be combined with ${others.join(', ')}.`);
  return { key: query.key };
}

/** Members that are null say nothing, as those that are not there. */
export function readWishes(
  source: Readonly<Record<string, unknown>>,
  maxOperations: number,
  complain: (problem: string) => Failure,
): Wishes {
  const wishes: Record<string, unknown> = {};
  for (const [name, { read, must }] of Object.entries<Parameter<unknown>>(PARAMETERS)) {
    if (source[name] === undefined || source[name] === null) continue;
    wishes[name] = read(source[name]);
    if (wishes[name] === undefined) throw complain(`${name} must be ${must}`);
  }
  return { ...(wishes as Simple), transforms: readOperations(source.transforms, maxOperations, complain) };
}

function integer(least: number, most = Number.MAX_SAFE_INTEGER): Parameter<number> {
  return {
    read(value) {
      const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
      const fits = typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most;
      return fits ? number : undefined;
    },
    must: most === Number.MAX_SAFE_INTEGER ? `an integer of at least ${least}` : `an integer from ${least} to ${most}`,
  };
}

function oneOf<const T extends string>(values: readonly T[]): Parameter<T> {
  return { read: (value) => values.find((one) => one === value), must: `one of ${values.join(', ')}` };
}

function flag(): Parameter<boolean> {
  // The name alone says yes, as `?download` does.
  const MEANING: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
    ['', true],
    ['true', true],
    ['1', true],
    [true, true],
    ['false', false],
    ['0', false],
    [false, false],
  ]);
  return { read: (value) => MEANING.get(value), must: 'true or false' };
}
