/**
 * Built-ins that the prelude uses at run time, captured before any guest code runs. The guest may replace or poison
 * every built-in afterwards, and none of these names leads to its replacement. Rules for all files of this folder:
 * - no method is called on a value that the guest may have seen, and no member is looked up on a prototype;
 * - tables and records are literals with `__proto__: null`, and no array index is assigned;
 * - `await` and literals are safe (they use intrinsics of the engine, not globals of the guest); spread and for-of are
 * not.
 */
export const { stringify, parse } = JSON;
export const { apply, deleteProperty } = Reflect;
export const { freeze, keys, hasOwn, defineProperty } = Object;
export const { isArray } = Array;
export const CapturedPromise = Promise;
export const CapturedRangeError = RangeError;
export const CapturedTypeError = TypeError;
export const CapturedError = Error;
export const { slice } = String.prototype;

export type NullPrototypeTable<T> = { [key: number]: T };
export const createNullPrototypeTable = <T>(): NullPrototypeTable<T> =>
  ({ __proto__: null }) as unknown as NullPrototypeTable<T>;

/** Own property of an object or function, else undefined. May run a getter of the guest. */
export const ownProperty = (object: object, key: string): unknown =>
  hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined;

export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
