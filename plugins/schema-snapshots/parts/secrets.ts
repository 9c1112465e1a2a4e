import { isDeepStrictEqual } from 'node:util';
import { CONCEALED_VALUE_MASK } from '../../extension-settings/contract.ts';
import { isSecretKey } from '../../flows/library.ts';

/** A value of a secret key that holds no secret itself: a template such as `Bearer {{ $env.TOKEN }}`. */
const isTemplate = (text: string): boolean =>
  /\{\{.+\}\}/s.test(text) &&
  text
    .replaceAll(/\{\{.*?\}\}/gs, '')
    .replace(/^\s*(bearer|basic|token)\s*/i, '')
    .trim() === '';

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Names the member `value` of a pair such as `{ header, value }`, as editors store headers. */
const isSecretPair = (value: object): boolean =>
  ['header', 'name', 'key'].some((name) => {
    const text = (value as Record<string, unknown>)[name];
    return typeof text === 'string' && isSecretKey(text);
  });

/** A copy of a value with a mask in place of the values of secret keys, at any depth. */
export function maskSecrets(value: unknown, isSecret = false): unknown {
  if (Array.isArray(value)) return value.map((one) => maskSecrets(one, isSecret));
  if (isTree(value)) {
    const isPair = isSecretPair(value);
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [
        key,
        maskSecrets(one, isSecret || isSecretKey(key) || (isPair && key === 'value')),
      ]),
    );
  }
  if (!isSecret || value === null || typeof value === 'boolean' || value === '') return value;
  return typeof value === 'string' && isTemplate(value) ? value : CONCEALED_VALUE_MASK;
}

/**
 * A copy of a value with the stored secrets in place of their masks. A mask without a stored secret is left out: the mask itself is
 * never stored. Elements of lists are found by their masked form, so that no secret gets to another name.
 */
export function unmaskSecrets(value: unknown, stored: unknown): unknown {
  if (Array.isArray(value)) {
    const known = Array.isArray(stored) ? stored : [];
    return value.map((one) => {
      const same = known.find((other) => isDeepStrictEqual(maskSecrets(other), one));
      return same === undefined ? unmaskSecrets(one, undefined) : same;
    });
  }
  if (!isTree(value)) return value === CONCEALED_VALUE_MASK ? stored : value;
  const entries = Object.entries(value).map(([key, one]) => {
    const before = isTree(stored) && Object.hasOwn(stored, key) ? (stored as Record<string, unknown>)[key] : undefined;
    return [key, unmaskSecrets(one, before)] as const;
  });
  return Object.fromEntries(entries.filter(([, one]) => one !== undefined));
}

/** Paths of masks, for which a secret has to be entered by hand. */
export function findMasks(value: unknown, path = ''): readonly string[] {
  if (value === CONCEALED_VALUE_MASK) return [path];
  if (!isTree(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => findMasks(one, path === '' ? key : `${path}.${key}`));
}
